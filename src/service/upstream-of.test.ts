import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadSettings } from '../config/load-settings.ts';
import { flagName } from '../config/setting.ts';
import { TABLE } from '../config/settings-table.ts';
import { schemesOf, upstreamOf } from './upstream-of.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'smg-envoy-upstream-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Settings of flags, `--name value …`, and of the text of a config file. */
function loaded(flags: Readonly<Record<string, readonly string[]>>, file = '') {
  const uses = TABLE.flatMap(([key]) => {
    const words = flags[flagName(key).slice('--'.length)];
    return words === undefined ? [] : [{ key, flag: flagName(key), negated: false, words }];
  });
  const config = file === '' ? [] : [{ key: 'config' as const, flag: '--config', negated: false, words: ['c.yaml'] }];
  return loadSettings({ flags: [...config, ...uses], env: {}, readFile: () => file });
}

describe('decisions 45 schemes that Envoy is configured for', () => {
  it.each<[string, Parameters<typeof loaded>, string[]]>([
    ['nothing given', [{}], ['http']],
    ['workers of flags', [{ 'worker-urls': ['https://a', 'http://b'] }], ['http', 'https']],
    ['workers of the file', [{}, 'workers: [{url: grpc://a}]'], ['http', 'grpc']],
    ['workers still to come', [{ 'worker-schemes': ['grpcs', 'http'] }], ['http', 'grpcs']],
    ['a worker that cannot be read', [{ 'worker-urls': ['nonsense'] }], ['http']],
  ])('%s', (_, args, schemes) => {
    expect([...schemesOf(loaded(...args))]).toEqual(schemes);
  });
});

describe('how the service asks workers', () => {
  it('in clear text with HTTP/1.1, with the authorities of the system, where nothing is given', () => {
    expect(upstreamOf(loaded({}).settings)).toEqual({
      http2: false,
      tls: { ca: [], cert: null, key: null, insecure: false },
    });
  });

  it('with what stands in the files', () => {
    const pem = (name: string) => {
      writeFileSync(join(folder, name), `-----BEGIN ${name}`);
      return join(folder, name);
    };
    const flags = {
      'ca-cert-paths': [pem('a'), pem('b')],
      'client-cert-path': [pem('c')],
      'client-key-path': [pem('k')],
      'upstream-http2': [],
      'worker-tls-insecure': [],
    };
    expect(upstreamOf(loaded(flags).settings)).toEqual({
      http2: true,
      tls: { ca: ['-----BEGIN a', '-----BEGIN b'], cert: '-----BEGIN c', key: '-----BEGIN k', insecure: true },
    });
  });

  it('refuses a file that is not there, or is no PEM', () => {
    writeFileSync(join(folder, 'der'), Buffer.from([0x30, 0x82]));
    const of = (path: string) => () => upstreamOf(loaded({ 'ca-cert-paths': [path] }).settings);

    expect(of(join(folder, 'none'))).toThrow(/--ca-cert-paths .*none: ENOENT/);
    expect(of(join(folder, 'der'))).toThrow(/--ca-cert-paths .*der: expected a file in PEM/);
  });
});
