import { describe, expect, it } from 'vitest';
import type { EndpointKind } from '../request/endpoint.ts';
import { scanObject } from '../request/json-scanner.ts';
import { MEMBERS } from './members.ts';
import { decodeBody, type LegFields, prefillBody, wantsSeveral } from './sequential-bodies.ts';

const scan = (body: object) => scanObject(Buffer.from(JSON.stringify(body)), MEMBERS);
const NOTHING = { model: null, rank: null, kvTransferParams: null, keepsClients: true };
const PARAMS = '{"do_remote_decode":true}';

describe('policies 4.4 the body of the prefill leg', () => {
  it.each<[string, EndpointKind, object, object]>([
    ['a bare request', 'chat', {}, { stream: false, max_tokens: 1 }],
    ['a stream', 'chat', { stream: true, stream_options: { x: 1 } }, { stream: false, max_tokens: 1 }],
    ['min_tokens', 'completions', { min_tokens: 3, max_tokens: 9 }, { stream: false, max_tokens: 1 }],
    ['n', 'chat', { n: 1 }, { stream: false, n: 1, max_tokens: 1 }],
    ['n that is null', 'chat', { n: null }, { stream: false, n: 1, max_tokens: 1 }],
    [
      'both caps of chat',
      'chat',
      { max_tokens: 9, max_completion_tokens: 8 },
      { stream: false, max_completion_tokens: 1 },
    ],
    [
      'max_completion_tokens means nothing elsewhere',
      'completions',
      { max_completion_tokens: 8 },
      { stream: false, max_completion_tokens: 8, max_tokens: 1 },
    ],
    ['responses', 'responses', { max_output_tokens: 9 }, { stream: false, max_output_tokens: 1 }],
    ['messages', 'messages', { max_tokens: 9 }, { stream: false, max_tokens: 1 }],
    [
      'generate',
      'generate',
      { sampling_params: { n: 2 } },
      { sampling_params: { n: 2 }, stream: false, max_tokens: 1 },
    ],
  ])('%s', (_, endpoint, body, sent) => {
    const prompt = { prompt: 'Ünï "quoted"', messages: [{ role: 'user', content: '{"n":2}' }] };
    const made = prefillBody(scan({ ...prompt, ...body }), endpoint, NOTHING);
    expect(JSON.parse(made.toString())).toEqual({ ...prompt, ...sent });
  });

  it('names model, rank and transfer', () => {
    const fields = { ...NOTHING, model: 'canonical', rank: 2, kvTransferParams: PARAMS };
    expect(JSON.parse(prefillBody(scan({ model: 'alias', kv_transfer_params: 1 }), 'chat', fields).toString())).toEqual(
      {
        model: 'canonical',
        data_parallel_rank: 2,
        kv_transfer_params: JSON.parse(PARAMS),
        stream: false,
        max_tokens: 1,
      },
    );
  });
});

describe('policies 4.4 the body of the decode leg', () => {
  it('is the client’s own where nothing is to be said', () => {
    expect(decodeBody(scan({ model: 'm' }), NOTHING)).toBeNull();
  });

  it('keeps every byte but what is written', () => {
    const body = Buffer.from(' { "model" : "alias", "stream":true,\n "max_tokens": 9 }');
    const fields = { ...NOTHING, model: 'canonical', kvTransferParams: PARAMS };
    expect(decodeBody(scanObject(body, MEMBERS), fields)?.toString()).toBe(
      ` {"kv_transfer_params":${PARAMS}, "model" : "canonical", "stream":true,\n "max_tokens": 9 }`,
    );
  });
});

describe('policies 4.4 what a client says of a transfer', () => {
  const scanned = scanObject(
    Buffer.from('{"kv_transfer_params":{"remote_host":"a"},"max_tokens":9,"kv_transfer_params":{"remote_host":"b"}}'),
    MEMBERS,
  );
  const ours = (made: Buffer | null): unknown => JSON.parse(made?.toString() ?? 'null');

  it.each<[string, Partial<LegFields>, prefill: object, decode: object | null]>([
    ['stays with a connector that is not known', {}, { kv_transfer_params: { remote_host: 'b' } }, null],
    ['goes where the connector is known', { keepsClients: false }, {}, { max_tokens: 9 }],
    [
      'gives way to what is said by us',
      { keepsClients: false, kvTransferParams: PARAMS },
      { kv_transfer_params: JSON.parse(PARAMS) },
      { max_tokens: 9, kv_transfer_params: JSON.parse(PARAMS) },
    ],
  ])('%s', (_, fields, prefill, decode) => {
    expect(ours(prefillBody(scanned, 'chat', { ...NOTHING, ...fields }))).toEqual({
      stream: false,
      max_tokens: 1,
      ...prefill,
    });
    expect(ours(decodeBody(scanned, { ...NOTHING, ...fields }))).toEqual(decode);
  });
});

describe('policies 4.4 several answers', () => {
  it.each([
    [{}, false],
    [{ n: 1 }, false],
    [{ n: 2 }, true],
    [{ n: null }, false],
    [{ n: 'x' }, false],
  ])('%j: %s', (body, several) => expect(wantsSeveral(scan(body))).toBe(several));
});
