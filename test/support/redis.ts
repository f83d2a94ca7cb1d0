import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findContainerEngine } from '../../src/demo/envoy-runtime.ts';
import { Child } from './child.ts';
import { accepts, freePort } from './ports.ts';
import { missing } from './require.ts';
import { until } from './until.ts';

const REDIS_IMAGE = 'docker.io/library/redis:7.4.5-alpine';

type RedisSource = 'REDIS_URL' | 'redis-server' | 'container';

function sourceHere(): RedisSource | undefined {
  if (process.env['REDIS_URL']) return 'REDIS_URL';
  if (spawnSync('redis-server', ['--version'], { stdio: 'ignore' }).status === 0) return 'redis-server';
  return findContainerEngine() === undefined ? undefined : 'container';
}

const source = sourceHere();

/** For `describe.skipIf(noRedis())`; a suite that stops Redis asks with `{ ownServer: true }`, which REDIS_URL is not. */
export function noRedis({ ownServer = false } = {}): boolean {
  if (source === undefined) return missing('redis', 'no REDIS_URL, no redis-server on PATH, no container engine');
  if (ownServer && source === 'REDIS_URL') return missing('redis', 'the Redis of REDIS_URL must not be stopped');
  return false;
}

/** For suites that play with servers in ways that only their processes allow: replicas, a Cluster, Sentinels, stops. */
export function noRedisServer(): boolean {
  if (source === 'redis-server') return false;
  if (source === undefined) return noRedis();
  process.stderr.write(`skipped without redis-server: not with ${source}\n`);
  return true;
}

/** A running Redis. */
export interface RedisHandle {
  readonly kind: RedisSource;
  readonly url: string;
  /** Process of the server; 0 where it is none of ours. */
  readonly pid: number;
  /** Stops it without an end, data lost, and starts it again. */
  restart(): Promise<void>;
  /** Stops it without an end until {@link restart}. Own servers only. */
  kill(): Promise<void>;
  /** It goes on accepting connections and answers nothing, until {@link resume}. Own servers only. */
  pause(): void;
  resume(): void;
  stop(): Promise<void>;
}

/** Starts an empty Redis, or names the one of REDIS_URL; that cannot be given arguments of `redis-server`. */
export async function startRedis({ args = [] }: { readonly args?: readonly string[] } = {}): Promise<RedisHandle> {
  if (source === 'redis-server') return startServer(args);
  if (source === 'container') return startContainer(args);
  const url = process.env['REDIS_URL'];
  if (url === undefined) throw new Error('no Redis');
  const refuse = (): never => {
    throw new Error('the Redis of REDIS_URL is not ours to stop');
  };
  return {
    ...{ kind: 'REDIS_URL', url, pid: 0 },
    ...{ restart: refuse, kill: refuse, pause: refuse, resume: refuse, stop: async () => undefined },
  };
}

/** A Redis of our own, as a process; {@link noRedisServer} tells where there is none. */
export async function startServer(args: readonly string[]): Promise<RedisHandle> {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'smg-envoy-redis-'));
  const settings = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', folder];
  const child = new Child('redis-server', [...settings, ...args]);
  const up = () => until(() => accepts(port), 'Redis listens');
  const stop = async (): Promise<void> => {
    child.signal('SIGCONT');
    await child.stop('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  };
  await up().catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  return {
    kind: 'redis-server',
    url: `redis://127.0.0.1:${port}`,
    get pid() {
      return child.pid;
    },
    restart: async () => {
      await child.restart();
      await up();
    },
    kill: () => child.stop('SIGKILL'),
    pause: () => child.signal('SIGSTOP'),
    resume: () => child.signal('SIGCONT'),
    stop,
  };
}

async function startContainer(args: readonly string[]): Promise<RedisHandle> {
  // Only here: loading it takes longer than a Redis takes to start.
  const { GenericContainer } = await import('testcontainers');
  const image = new GenericContainer(REDIS_IMAGE).withExposedPorts(6379);
  const container = await image.withCommand(['redis-server', '--save', '', ...args]).start();
  const refuse = (): never => {
    throw new Error('a Redis in a container cannot be paused or killed here');
  };
  return {
    kind: 'container',
    get url() {
      return `redis://${container.getHost()}:${container.getMappedPort(6379)}`;
    },
    pid: 0,
    restart: () => container.restart(),
    kill: refuse,
    pause: refuse,
    resume: refuse,
    stop: async () => {
      await container.stop();
    },
  };
}
