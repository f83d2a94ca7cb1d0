/** What is measured: a service for each transport, all up at once, and the client that plays Envoys. */
import { availableParallelism } from 'node:os';
import { startClient, startWorkers } from '../end-to-end/client.mjs';
import { keepOn } from '../lib/proc.mjs';
import { startService } from '../lib/service.mjs';

/** A header key is taken without the body; without one the body is asked for. */
const FLAGS = ['--policy', 'round_robin', '--routing-key-override', '--routing-key-order', 'header-first'];

/**
 * Services share the last core, the client has the first one: what is compared runs on the same core.
 *
 * @param wanted `{ name, flags, checkout }` of each service
 */
export async function startStands(wanted) {
  const closers = [];
  const stop = async () => {
    for (const close of closers.reverse()) await close();
  };
  try {
    const workers = await startWorkers(3);
    closers.push(workers.stop);
    const client = startClient('../transport/load-client.mjs');
    closers.push(client.stop);
    const stands = [];
    for (const { name, flags = [], checkout } of wanted) {
      const service = await startService(['--worker-urls', ...workers.urls, ...FLAGS, ...flags], checkout);
      closers.push(service.stop);
      stands.push({ name, pid: service.pid, admin: service.admin, address: service.grpc });
    }
    const last = availableParallelism() - 1;
    const pinned = stands.every(({ pid }) => keepOn(pid, last)) && keepOn(client.pid, 0);
    return { stands, client, pinned, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
