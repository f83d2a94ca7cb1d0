/**
 * Envoy without us and with us, and SMG, in one run: `node bench/run.mjs [latency] [capacity] [streamed] [held] [--out FILE]`.
 * `--only NAME,NAME` takes some variants; the numbers below are options, too. SMG comes from PyPI, and is left out without it.
 *
 * All variants are up together and take turns, round after round, so that a machine that slows down slows all of them. Ends
 * with exit code 1 when a request failed or a conversation left its worker. Loopback only.
 */
import { ensureBuild, say } from '../scripts/setup.mjs';
import { begin, finish } from './lib/report.mjs';

const { settings, positionals, only, report, out } = begin('end-to-end', {
  rounds: 7,
  /** Requests a second of the 1 KB variants, of the large ones, and of those with 1 MB. */
  rate: 500,
  'large-rate': 60,
  'huge-rate': 15,
  /** Length of a paced and of a closed round. */
  seconds: 5,
  'closed-seconds': 2,
  connections: 32,
  /** Connections that get answers in events, and events of an answer. */
  clients: 60,
  events: 20,
  'warm-up': 3,
  workers: 3,
  /** Requests held open at once, and for how long. */
  held: 2000,
  'hold-ms': 5000,
});
ensureBuild();
const { ensureEnvoy } = await import('../dist/demo/envoy-runtime.js');
const { findSmg, SMG_VERSION } = await import('./affinity/smg.mjs');
const { startClient, startWorkers } = await import('./end-to-end/client.mjs');
const { measured, memoryOf, placedBy, SCENARIOS } = await import('./end-to-end/scenarios.mjs');
const { startStack, versionOf } = await import('./end-to-end/stack.mjs');
const { problemsIn, summarize } = await import('./end-to-end/summary.mjs');
const { VARIANTS } = await import('./end-to-end/variants.mjs');

const names = positionals.length === 0 ? Object.keys(SCENARIOS) : positionals;
for (const name of names) if (!(name in SCENARIOS)) throw new Error(`no scenario ${name}`);
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

const envoy = await ensureEnvoy(say);
if (envoy.kind !== 'binary') throw new Error('the benchmark needs an Envoy binary: set ENVOY_BIN');
report.versions.envoy = versionOf(envoy.path);
for (const name of only ?? []) if (!VARIANTS.some((each) => each.name === name)) throw new Error(`no variant ${name}`);
const wanted = VARIANTS.filter(({ name }) => only === null || only.includes(name));
const missing = wanted.some(({ smg }) => smg !== undefined) ? await findSmg() : undefined;
if (missing !== undefined) say(`without SMG: ${missing}`);
else if (wanted.some(({ smg }) => smg !== undefined)) report.versions.smg = SMG_VERSION;
report.withoutSmg = missing ?? null;
const closers = [];
try {
  const workers = await startWorkers(settings.workers);
  closers.push(workers.stop);
  const client = startClient();
  closers.push(client.stop);
  const stacks = new Map();
  for (const variant of wanted) {
    if (missing !== undefined && variant.smg !== undefined) continue;
    say(`starting ${variant.name} …`);
    const stack = await startStack(variant, envoy.path, workers.urls);
    closers.push(stack.stop);
    stacks.set(variant, stack);
  }
  const idle = memoryOfAll(stacks);
  await warmUp(stacks, client);
  report.scenarios = {};
  for (const name of names) report.scenarios[name] = await scenario(name, stacks, client);
  report.memory = { idle, after: memoryOfAll(stacks) };
  report.placed = {};
  for (const [{ name }, stack] of stacks) {
    report.placed[name] = { sent: client.sent.get(name) ?? 0, placed: await placedBy(stack) };
  }
} finally {
  await Promise.all(closers.map((close) => close()));
}
report.problems = problemsIn(report);
for (const problem of report.problems) say(problem);
finish(report, out);
process.exitCode = report.problems.length === 0 ? 0 : 1;

async function warmUp(stacks, client) {
  for (const [variant, stack] of stacks) {
    say(`warming up ${variant.name} …`);
    const order = { kind: 'closed', seconds: settings['warm-up'], connections: settings.connections };
    await measured(order, variant, stack, client);
  }
}

async function scenario(name, stacks, client) {
  const { rounds: roundsOf, run, only = () => true } = SCENARIOS[name];
  const count = roundsOf(settings);
  const rounds = {};
  for (let round = 1; round <= count; round++) {
    for (const [variant, stack] of stacks) {
      if (!only(variant)) continue;
      const row = await run(variant, stack, client, settings);
      rounds[variant.name] ??= [];
      rounds[variant.name].push(row);
      say(`${name} ${round}/${count} ${variant.name.padEnd(12)} ${JSON.stringify(row)}`);
    }
  }
  return { rounds, summary: summarize(rounds) };
}

function memoryOfAll(stacks) {
  return Object.fromEntries([...stacks].map(([variant, stack]) => [variant.name, memoryOf(stack)]));
}
