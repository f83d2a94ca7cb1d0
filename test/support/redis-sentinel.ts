import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { Child } from './child.ts';
import { accepts, freePort } from './ports.ts';
import { type RedisHandle, startServer } from './redis.ts';
import { until } from './until.ts';

/** A master, its replica, and a Sentinel that decides alone. */
export interface SentinelHandle {
  /** For `--pin-store`. */
  readonly url: string;
  readonly master: RedisHandle;
  readonly replica: RedisHandle;
  stop(): Promise<void>;
}

/**
 * Its verdict on a dead master takes a fifth of a second.
 *
 * @param password of all of them
 */
export async function startSentinel({ password = '' }: { password?: string } = {}): Promise<SentinelHandle> {
  const login = password === '' ? [] : ['--requirepass', password, '--masterauth', password];
  // It would wait 5 seconds for more replicas.
  const master = await startServer(['--repl-diskless-sync-delay', '0', ...login]);
  const masterPort = portOf(master);
  const replica = await startServer(['--replicaof', '127.0.0.1', masterPort, ...login]);
  const folder = mkdtempSync(join(tmpdir(), 'smg-envoy-sentinel-'));
  const port = await freePort();
  writeFileSync(
    join(folder, 'sentinel.conf'),
    [
      `port ${port}`,
      'bind 127.0.0.1',
      `dir ${folder}`,
      `sentinel monitor main 127.0.0.1 ${masterPort} 1`,
      'sentinel down-after-milliseconds main 200',
      'sentinel failover-timeout main 2000',
      ...(password === '' ? [] : [`requirepass ${password}`, `sentinel auth-pass main ${password}`]),
    ].join('\n'),
  );
  const child = new Child('redis-server', [join(folder, 'sentinel.conf'), '--sentinel']);
  const stop = async (): Promise<void> => {
    await child.stop('SIGKILL');
    await Promise.all([master.stop(), replica.stop()]);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await until(() => accepts(port), 'the Sentinel listens');
    await synced(replica.url, password);
    await knowsReplica(port, password);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: `redis+sentinel://127.0.0.1:${port}/main`, master, replica, stop };
}

function portOf(redis: RedisHandle): string {
  return new URL(redis.url).port;
}

async function synced(url: string, password: string): Promise<void> {
  const client = new Redis(url, password === '' ? {} : { password });
  await until(async () => (await client.info('replication')).includes('master_link_status:up'), 'the replica follows');
  client.disconnect();
}

async function knowsReplica(port: number, password: string): Promise<void> {
  const client = new Redis(port, '127.0.0.1', password === '' ? {} : { password });
  const known = async (): Promise<boolean> => {
    const replicas = (await client.call('sentinel', 'replicas', 'main')) as string[][];
    const fields = replicas[0] ?? [];
    return fields[fields.indexOf('master-link-status') + 1] === 'ok';
  };
  await until(known, 'the Sentinel has seen the replica');
  client.disconnect();
}
