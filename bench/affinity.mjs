/**
 * Whether prompts with the same beginning come to a worker that had it before: `node bench/affinity.mjs [--out FILE]`. We
 * behind an Envoy and the real SMG v1.11, in the same run, each before workers of its own, both with the same flags. SMG is left out, with the reason, where its wheel cannot be installed. Loopback only.
 *
 * Both get the same requests in the same order, system after system, round after round; each round has new prompts. Ends
 * with exit code 1 when a request failed.
 */
import { ensureBuild, say } from '../scripts/setup.mjs';
import { begin, finish } from './lib/report.mjs';

const { settings, report, out } = begin('affinity', {
  rounds: 3,
  /** Different beginnings, and prompts with each. */
  prefixes: 100,
  turns: 50,
  workers: 8,
  /** Length of a body, in bytes. */
  bytes: 32 << 10,
  connections: 16,
  /** Milliseconds that a worker takes for an answer. */
  'hold-ms': 40,
});
ensureBuild();
const { ensureEnvoy } = await import('../dist/demo/envoy-runtime.js');
const { startWorkers } = await import('./end-to-end/client.mjs');
const { startStack, versionOf } = await import('./end-to-end/stack.mjs');
const { decisionsOf } = await import('./affinity/decisions.mjs');
const { play } = await import('./affinity/play.mjs');
const { ratesOf, together } = await import('./affinity/rates.mjs');
const { findSmg, SMG_VERSION, startSmg } = await import('./affinity/smg.mjs');
const { promptsOf } = await import('./affinity/workload.mjs');

const POLICY = ['--policy', 'cache_aware'];
const SCENARIOS = [
  { name: 'as delivered', flags: [] },
  // Workers count as too busy early, so that prompts are sent away from where they are known.
  {
    name: 'gate at 2 requests over the mean',
    flags: ['--balance-abs-threshold', '2', '--balance-rel-threshold', '1.1'],
  },
];
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

const envoy = await ensureEnvoy(say);
if (envoy.kind !== 'binary') throw new Error('the benchmark needs an Envoy binary: set ENVOY_BIN');
report.versions.envoy = versionOf(envoy.path);
const missing = await findSmg();
if (missing !== undefined) say(`without SMG: ${missing}`);
else report.versions.smg = SMG_VERSION;
report.withoutSmg = missing ?? null;
report.rounds = [];
report.systems = [];
report.decisions = [];
for (const scenario of SCENARIOS) await measure(scenario);
finish(report, out);
process.exitCode = report.rounds.some(({ failed }) => failed > 0) ? 1 : 0;

async function measure({ name: scenario, flags }) {
  const systems = [];
  try {
    systems.push(await startOurs(flags));
    if (missing === undefined) systems.push(await startPeer(flags));
    for (let round = 1; round <= settings.rounds; round++) {
      const prompts = promptsOf(settings, round);
      for (const { name, port } of systems) {
        const served = await play(port, prompts, settings.connections);
        const row = { scenario, system: name, round, ...ratesOf(prompts, served, settings.workers) };
        report.rounds.push(row);
        say(Object.values(row).join('\t'));
      }
    }
    report.decisions.push({ scenario, ...(await decisionsOf(systems[0].admin)) });
  } finally {
    for (const { stop } of systems) await stop();
  }
  for (const { name } of systems) {
    report.systems.push(together(report.rounds.filter((row) => row.scenario === scenario && row.system === name)));
  }
}

async function startOurs(flags) {
  const workers = await startWorkers(settings.workers, settings['hold-ms']);
  const stack = await startStack({ flags: [...POLICY, ...flags] }, envoy.path, workers.urls);
  const stop = () => stack.stop().finally(workers.stop);
  return { name: 'smg-envoy', port: stack.port, admin: stack.admin, stop };
}

async function startPeer(flags) {
  const workers = await startWorkers(settings.workers, settings['hold-ms']);
  const smg = await startSmg([...POLICY, ...flags], workers.urls);
  const stop = () => smg.stop().finally(workers.stop);
  return { name: `SMG ${SMG_VERSION}`, port: smg.port, stop };
}
