/**
 * One process or several: `node bench/multi-core.mjs [saturation] [paced] [--only SHAPE,SHAPE] [--out FILE]`. The same load on
 * one process with pins in memory, and on one, two and four that share pins in Redis, asked by a client that plays an Envoy and
 * spreads its connections over them. The numbers below are options, too.
 *
 * All processes of the service run on one core, so that the figures are what a request costs in each shape, not how fast
 * more cores are. Ends with exit code 1 when a request failed or a key was at two workers. Needs redis-server; loopback only.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { ensureBuild, say } from '../scripts/setup.mjs';
import { idleShare, quietMachine } from './ha/quiet.mjs';
import { begin, finish } from './lib/report.mjs';
import { cpuOf, idleCosts, SCENARIOS, warmUp } from './multi-core/measure.mjs';
import { SHAPES } from './multi-core/shapes.mjs';
import { startStands } from './multi-core/stands.mjs';
import { problemsIn, summarize } from './multi-core/summary.mjs';

const { settings, positionals, only, report, out } = begin('multi-core', {
  rounds: 3,
  /** Length of a round. */
  seconds: 4,
  'warm-up': 2,
  /** A multiple of the most processes, so that each has as many. */
  connections: 4,
  /** Requests at once at saturation. */
  places: 64,
  rate: 4000,
  keys: 10_000,
  /** Share of requests that are the first or the second of a new key. */
  'new-percent': 5,
  /** From a pick until the access log tells its end. */
  'hold-ms': 250,
  'idle-seconds': 5,
  /** Seconds to wait at most for the machine to have nothing else to do. */
  'patience-secs': 5,
});
for (const name of positionals) if (!(name in SCENARIOS)) throw new Error(`no scenario ${name}`);
for (const name of only ?? []) if (!SHAPES.some((each) => each.name === name)) throw new Error(`no shape ${name}`);
const names = positionals.length === 0 ? Object.keys(SCENARIOS) : positionals;
ensureBuild();
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

const quietBefore = await quietMachine(settings['patience-secs']);
const { stands, client, pinned, stop } = await startStands(
  SHAPES.filter(({ name }) => only === null || only.includes(name)),
);
report.versions.redis = stands.find(({ redis }) => redis !== null)?.redis.version;
report.pinned = pinned;
report.problems = [];
report.scenarios = {};
try {
  for (const stand of stands) {
    const differing = await warmUp(stand, client, settings);
    if (differing > 0) report.problems.push(`warm-up ${stand.name}: ${differing} turns went to another worker`);
  }
  report.idle = await idle();
  for (const name of names) report.scenarios[name] = await scenario(name);
} finally {
  await stop();
}
report.quiet = [quietBefore, await idleShare()];
report.problems.push(...problemsIn(report.scenarios));
for (const problem of report.problems) say(problem);
finish(report, out);
process.exitCode = report.problems.length > 0 ? 1 : 0;

async function idle() {
  const before = Object.fromEntries(stands.map((stand) => [stand.name, cpuOf(stand)]));
  const started = performance.now();
  await pause(settings['idle-seconds'] * 1000);
  const costs = idleCosts(stands, before, (performance.now() - started) / 1000);
  say(`idle: ${JSON.stringify(costs)}`);
  return costs;
}

async function scenario(name) {
  const rounds = {};
  for (let round = 1; round <= settings.rounds; round++) {
    // Who goes first changes, so that nobody has always the warmer machine.
    for (const stand of round % 2 === 1 ? stands : stands.toReversed()) {
      const row = await SCENARIOS[name](stand, client, settings);
      rounds[stand.name] ??= [];
      rounds[stand.name].push(row);
      say(`${name} ${round}/${settings.rounds} ${stand.name.padEnd(8)} ${JSON.stringify(row)}`);
    }
  }
  return { rounds, summary: summarize(rounds, stands[0].name) };
}
