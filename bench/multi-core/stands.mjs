import { availableParallelism } from 'node:os';
import { startClient, startWorkers } from '../end-to-end/client.mjs';
import { keepOn } from '../lib/proc.mjs';
import { startService } from '../lib/service.mjs';
import { startRedis } from '../pin-store/server.mjs';

/** A header key is taken without the body. A key that is placed twice lands on another of three workers. */
const FLAGS = ['--policy', 'round_robin', '--routing-key-override', '--routing-key-order', 'header-first'];

/**
 * One shape: its processes, a Redis for them, and a client. The processes share the last core, so that processor time is
 * compared on the same one; the client and Redis have the first.
 *
 * @param shape of shapes.mjs
 */
export async function startStand({ name, processes, shared }) {
  const closers = [];
  const stop = async () => {
    for (const close of closers.reverse()) await close();
  };
  try {
    const workers = await startWorkers(3);
    closers.push(workers.stop);
    const client = startClient('../multi-core/load-client.mjs');
    closers.push(client.stop);
    const redis = shared ? await startRedis() : null;
    if (redis !== null) closers.push(redis.stop);
    const services = [];
    for (let i = 0; i < processes; i++) {
      const store = redis === null ? [] : ['--pin-store', redis.url];
      const service = await startService(['--worker-urls', ...workers.urls, ...FLAGS, ...store]);
      closers.push(service.stop);
      services.push(service);
    }
    const last = availableParallelism() - 1;
    const pinned =
      services.every(({ pid }) => keepOn(pid, last)) &&
      [client.pid, ...(redis === null ? [] : [redis.pid])].every((pid) => keepOn(pid, 0));
    return { name, client, redis, services, addresses: services.map(({ grpc }) => grpc), pinned, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
