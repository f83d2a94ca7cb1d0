import { describe, expect, it } from 'vitest';
import { xxh3 } from '../util/xxh3.ts';
import { readBody } from './body-fields.ts';
import { cacheNamespace } from './cache-namespace.ts';
import { endpointOf } from './endpoint.ts';

const PARTITIONED = ['/v1/chat/completions', '/v1/completions', '/v1/messages', '/generate'];
const OTHERS = [
  '/v1/messages/count_tokens',
  '/v1/embeddings',
  '/v1/classify',
  '/rerank',
  '/v1/rerank',
  '/v1/responses',
  '/v1/interactions',
];

function namespaceOf(body: unknown, path = '/v1/chat/completions'): string | null {
  const endpoint = endpointOf(path);
  const fields = readBody(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)), true, endpoint);
  if (fields.kind === 'error' || fields.members === null) throw new Error('no members');
  return cacheNamespace(endpoint.kind, fields.members);
}

describe('policies 1.6.9 digest', () => {
  it('hashes the domain, and per field a presence byte, the length as a little-endian u64, and the bytes', () => {
    const domain = Buffer.from('smg/cache-namespace/v1', 'ascii');
    const salt = [1, 1, 0, 0, 0, 0, 0, 0, 0, 0x73];
    const noExtraKey = [0];
    const lora = [1, 2, 0, 0, 0, 0, 0, 0, 0, 0x61, 0x62];

    expect(namespaceOf({ cache_salt: 's', lora_path: 'ab' })).toBe(
      xxh3(Uint8Array.from([...domain, ...salt, ...noExtraKey, ...lora])),
    );
  });

  // From another implementation of XXH3 over the bytes that the rule gives.
  it.each<[string, object, string]>([
    ['a salt', { cache_salt: 's' }, 'dce460e9e8bd706a'],
    ['an extra key', { extra_key: 's' }, '45f10af9eaf8079c'],
    ['an adapter', { lora_path: 's' }, '947ef97d2362a8fa'],
    ['all, in any order', { lora_path: 'u', extra_key: 't', cache_salt: 's' }, '5ec2f355b9831577'],
    ['a salt beyond ASCII, by its bytes', { cache_salt: 'sälz' }, '701e7701b18fcd47'],
    ['a long salt and an adapter', { cache_salt: 'a'.repeat(300), lora_path: 'lora-1' }, '48de60927437466d'],
  ])('%s', (_title, body, digest) => {
    for (const path of PARTITIONED) expect(namespaceOf(body, path)).toBe(digest);
  });

  it('decodes escapes', () => {
    expect(namespaceOf('{"cache\\u005fsalt":"\\u0073"}')).toBe('dce460e9e8bd706a');
  });
});

describe('policies 1.6.9 fields', () => {
  it.each<[string, object]>([
    ['none', {}],
    ['empty', { cache_salt: '', extra_key: '', lora_path: '' }],
    ['null', { cache_salt: null, extra_key: null, lora_path: null }],
    ['no strings', { cache_salt: 7, extra_key: ['s'], lora_path: { a: 's' } }],
    ['nested', { metadata: { cache_salt: 's' } }],
  ])('%s: no namespace', (_title, body) => {
    for (const path of PARTITIONED) expect(namespaceOf(body, path)).toBeNull();
  });

  it.each(OTHERS)('%s has none', (path) => {
    expect(namespaceOf({ cache_salt: 's', extra_key: 's', lora_path: 's', lora_id: 's' }, path)).toBeNull();
  });

  const adapter = (name: string) => namespaceOf({ lora_path: name });
  it.each<[string, object, string | null]>([
    ['lora_id alone', { lora_id: 'a' }, adapter('a')],
    ['lora_path before lora_id', { lora_path: 'a', lora_id: 'b' }, adapter('a')],
    ['lora_path null', { lora_path: null, lora_id: 'b' }, adapter('b')],
    ['lora_path empty', { lora_path: '', lora_id: 'b' }, null],
  ])('/generate: %s', (_title, body, namespace) => {
    expect(namespaceOf(body, '/generate')).toBe(namespace);
  });

  it('only /generate knows lora_id', () => {
    for (const path of PARTITIONED.slice(0, 3)) expect(namespaceOf({ lora_id: 'a' }, path)).toBeNull();
  });

  it('takes the first of a repeated member, as for all of them', () => {
    expect(namespaceOf('{"cache_salt":"s","cache_salt":"t"}')).toBe(namespaceOf({ cache_salt: 's' }));
  });
});
