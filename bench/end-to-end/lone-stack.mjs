/** One stack with its own client and workers, for measurements that last: Envoy with changes, its admin port open. */
import { say } from '../../scripts/setup.mjs';
import { startClient, startWorkers } from './client.mjs';
import { countersOf, withAdmin } from './envoy-edits.mjs';
import { startStack, versionOf } from './stack.mjs';

const { ensureEnvoy } = await import('../../dist/demo/envoy-runtime.js');
const { freePort } = await import('../../dist/demo/ports.js');

/**
 * Uses a stack and stops it.
 *
 * @param report gets the version of Envoy
 * @param variant of variants.mjs
 * @param edits of envoy-edits.mjs
 * @param use gets the stack with `client` and `counters(filter)`, those of Envoy
 */
export async function withStack(report, variant, edits, workerCount, use) {
  const envoy = await ensureEnvoy(say);
  if (envoy.kind !== 'binary') throw new Error('the benchmark needs an Envoy binary: set ENVOY_BIN');
  report.versions.envoy = versionOf(envoy.path);
  const closers = [];
  try {
    const workers = await startWorkers(workerCount);
    closers.push(workers.stop);
    const client = startClient();
    closers.push(client.stop);
    const adminPort = await freePort('127.0.0.1');
    const edit = (bootstrap) => {
      for (const each of [...edits, withAdmin(adminPort)]) each(bootstrap);
    };
    const stack = await startStack(variant, envoy.path, workers.urls, edit);
    closers.push(stack.stop);
    return await use({ ...stack, client, counters: (filter) => countersOf(adminPort, filter) });
  } finally {
    for (const close of closers.reverse()) await close();
  }
}
