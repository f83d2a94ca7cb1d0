import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { selfSigned } from '../../src/sim/certificate.ts';
import { freePort } from './ports.ts';
import { type RedisHandle, startServer } from './redis.ts';

/** A Redis that speaks TLS, with a certificate for 127.0.0.1. */
export interface TlsRedisHandle extends RedisHandle {
  /** The certificate that it is trusted by, and one that it is not. */
  readonly caPath: string;
  readonly otherCaPath: string;
}

export async function startTlsRedis(): Promise<TlsRedisHandle> {
  const folder = mkdtempSync(join(tmpdir(), 'smg-envoy-redis-tls-'));
  const write = (name: string, content: string): string => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  const [own, other] = [selfSigned(FOR_HERE), selfSigned(FOR_HERE)];
  const caPath = write('own.pem', own.cert);
  const port = await freePort();
  const redis = await startServer([
    ...['--tls-port', String(port), '--tls-auth-clients', 'no'],
    ...['--tls-cert-file', caPath, '--tls-key-file', write('own.key', own.key), '--tls-ca-cert-file', caPath],
  ]);
  return {
    ...redis,
    url: `rediss://127.0.0.1:${port}`,
    caPath,
    otherCaPath: write('other.pem', other.cert),
    stop: async () => {
      await redis.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const FOR_HERE = { names: ['localhost', '127.0.0.1'], now: Date.now(), days: 2 };
