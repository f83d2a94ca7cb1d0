import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { selfSigned } from '../sim/certificate.ts';
import { readTlsFiles, tlsOptionsOf } from './tls-files.ts';

const DAY_MS = 86_400_000;
const NOW = Date.UTC(2026, 5, 1);

describe('TLS files of the gRPC port', () => {
  const pair = selfSigned({ names: ['picker'], now: NOW, days: 10 });
  const other = selfSigned({ names: ['other'], now: NOW, days: 10 });
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'smg-tls-files-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  function places(cert: string, key: string, clientCa: string | null = null) {
    const write = (name: string, text: string): string => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    };
    const ca = clientCa === null ? null : write('ca.pem', clientCa);
    return { cert: write('tls.crt', cert), key: write('tls.key', key), clientCa: ca };
  }

  it('gives what the port shows, and asks for client certificates only with an authority', () => {
    const open = tlsOptionsOf(readTlsFiles(places(pair.cert, pair.key), NOW));
    const mutual = tlsOptionsOf(readTlsFiles(places(pair.cert, pair.key, other.cert), NOW));

    expect(open).toEqual(pair);
    expect(mutual).toEqual({ ...pair, ca: other.cert, requestCert: true, rejectUnauthorized: true });
  });

  it('takes a chain, and authorities of which one is over', () => {
    const over = selfSigned({ names: ['over'], now: NOW - 100 * DAY_MS, days: 10 });

    const files = readTlsFiles(places(pair.cert + other.cert, pair.key, over.cert + other.cert), NOW);

    expect(files.validTo).toBe(NOW + 10 * DAY_MS);
  });

  it.each<[string, () => ReturnType<typeof places>, number, RegExp]>([
    [
      'no certificate',
      () => places('text', pair.key),
      NOW,
      /^--tls-cert-path \S+tls\.crt: holds no certificate: expected PEM/,
    ],
    ['a key as certificate', () => places(pair.key, pair.key), NOW, /^--tls-cert-path \S+: holds no certificate/],
    [
      'half a certificate',
      () => places(pair.cert.slice(0, 200), pair.key),
      NOW,
      /^--tls-cert-path \S+: holds a certificate that cannot be read/,
    ],
    ['no key', () => places(pair.cert, 'text'), NOW, /^--tls-key-path \S+tls\.key: holds no private key: expected PEM/],
    [
      'an encrypted key',
      () => places(pair.cert, '-----BEGIN ENCRYPTED PRIVATE KEY-----'),
      NOW,
      /^--tls-key-path \S+: is encrypted: expected a key without/,
    ],
    [
      'another key',
      () => places(pair.cert, other.key),
      NOW,
      /^--tls-key-path \S+: is not the key of the certificate in \S+tls\.crt/,
    ],
    [
      'expired',
      () => places(pair.cert, pair.key),
      NOW + 10 * DAY_MS,
      /^--tls-cert-path \S+: expired on Jun 11 .*: renew/,
    ],
    [
      'too early',
      () => places(pair.cert, pair.key),
      NOW - 2 * DAY_MS,
      /^--tls-cert-path \S+: is not valid before May 31 /,
    ],
    [
      'no authority',
      () => places(pair.cert, pair.key, 'text'),
      NOW,
      /^--tls-client-ca-path \S+ca\.pem: holds no certificate/,
    ],
    [
      'an authority that is over',
      () => places(pair.cert, pair.key, selfSigned({ names: ['x'], now: NOW - 20 * DAY_MS, days: 1 }).cert),
      NOW,
      /^--tls-client-ca-path \S+: expired on/,
    ],
    [
      'no file',
      () => ({ cert: join(folder, 'absent'), key: join(folder, 'tls.key'), clientCa: null }),
      NOW,
      /^--tls-cert-path \S+absent: cannot be read: ENOENT/,
    ],
  ])('%s: the flag, the file and the cure are named', (_name, at, now, message) => {
    const where = at();

    expect(() => readTlsFiles(where, now)).toThrow(message);
  });

  it('quotes nothing of a key', () => {
    const where = places(pair.cert, pair.key.replaceAll('PRIVATE KEY', 'PRIVATE KEX'));
    const secret = pair.key.split('\n')[1] ?? '';
    let said = '';
    try {
      readTlsFiles(where, NOW);
    } catch (error) {
      said = String(error);
    }

    expect(secret.length).toBeGreaterThan(60);
    expect(said).toContain('--tls-key-path');
    expect(said).not.toContain(secret);
  });
});
