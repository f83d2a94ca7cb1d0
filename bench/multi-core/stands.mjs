import { availableParallelism } from 'node:os';
import { startClient, startWorkers } from '../end-to-end/client.mjs';
import { keepOn } from '../lib/proc.mjs';
import { startService } from '../lib/service.mjs';
import { startRedis } from '../pin-store/server.mjs';

/** A header key is taken without the body. A key that is placed twice lands on another of three workers. */
const FLAGS = ['--policy', 'round_robin', '--routing-key-override', '--routing-key-order', 'header-first'];

/**
 * All shapes at once, each with a Redis of its own, and one client. Services share the last core, so that processor time is
 * compared on the same one; the client and the Redis servers have the first.
 *
 * @param shapes of shapes.mjs
 */
export async function startStands(shapes) {
  const closers = [];
  const stop = async () => {
    for (const close of closers.reverse()) await close();
  };
  try {
    const workers = await startWorkers(3);
    closers.push(workers.stop);
    const client = startClient('../multi-core/load-client.mjs');
    closers.push(client.stop);
    const stands = [];
    for (const shape of shapes) stands.push(await startStand(shape, workers.urls, closers));
    const last = availableParallelism() - 1;
    const first = [client.pid, ...stands.flatMap(({ redis }) => (redis === null ? [] : [redis.pid]))];
    const pinned =
      stands.every(({ services }) => services.every(({ pid }) => keepOn(pid, last))) &&
      first.every((pid) => keepOn(pid, 0));
    return { stands, client, pinned, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startStand({ name, processes, shared }, urls, closers) {
  const redis = shared ? await startRedis() : null;
  if (redis !== null) closers.push(redis.stop);
  const services = [];
  for (let i = 0; i < processes; i++) {
    const store = redis === null ? [] : ['--pin-store', redis.url];
    const service = await startService(['--worker-urls', ...urls, ...FLAGS, ...store]);
    closers.push(service.stop);
    services.push(service);
  }
  return { name, redis, services, addresses: services.map(({ grpc }) => grpc) };
}
