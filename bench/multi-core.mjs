/**
 * One process or several: `node bench/multi-core.mjs [--only SHAPE,SHAPE] [--out FILE]`. The same load on
 * one process with pins in memory, and on one, two and four that share pins in Redis, asked by a client that plays an Envoy and
 * spreads its connections over them. The numbers below are options, too.
 *
 * All processes of the service run on one core, so that the figures are what a request costs in each shape, not how fast
 * more cores are. Ends with exit code 1 when a request failed or a key was at two workers. Needs redis-server; loopback only.
 */
import { ensureBuild, say } from '../scripts/setup.mjs';
import { idleShare, quietMachine } from './ha/quiet.mjs';
import { begin, finish } from './lib/report.mjs';
import { play } from './multi-core/measure.mjs';
import { SHAPES } from './multi-core/shapes.mjs';
import { startStand } from './multi-core/stands.mjs';
import { problemsIn, summarize } from './multi-core/summary.mjs';

const { settings, only, report, out } = begin('multi-core', {
  rounds: 1,
  /** Of each measurement: a process visits all pins that it used once in this time. */
  seconds: 10,
  'idle-seconds': 2,
  /** A multiple of the most processes, so that each has as many. */
  connections: 4,
  /** Requests at once at saturation. */
  places: 64,
  rate: 3000,
  /** So many that a key has no two turns between two visits, as with turns of people. */
  keys: 30_000,
  /** Share of requests that are the first or the second of a new key. */
  'new-percent': 5,
  /** From a pick until the access log tells its end. */
  'hold-ms': 250,
  /** Seconds to wait at most for the machine to have nothing else to do. */
  'patience-secs': 5,
});
for (const name of only ?? []) if (!SHAPES.some((each) => each.name === name)) throw new Error(`no shape ${name}`);
const shapes = SHAPES.filter(({ name }) => only === null || only.includes(name));
ensureBuild();
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

const quietBefore = await quietMachine(settings['patience-secs']);
const rounds = {};
report.pinned = true;
for (let round = 1; round <= settings.rounds; round++) {
  for (const shape of shapes) await playOne(shape, round);
}
report.quiet = [quietBefore, await idleShare()];
const { idle, ...scenarios } = rounds;
report.idle = summarize(idle);
report.scenarios = Object.fromEntries(
  Object.entries(scenarios).map(([name, rows]) => [name, { rounds: rows, summary: summarize(rows, shapes[0].name) }]),
);
report.problems = problemsIn(report.scenarios);
for (const problem of report.problems) say(problem);
finish(report, out);
process.exitCode = report.problems.length > 0 ? 1 : 0;

async function playOne(shape, round) {
  const stand = await startStand(shape);
  report.versions.redis ??= stand.redis?.version;
  report.pinned &&= stand.pinned;
  const told = (name, row) => say(`${round}/${settings.rounds} ${shape.name} ${name}: ${JSON.stringify(row)}`);
  try {
    for (const [name, row] of Object.entries(await play(stand, settings, told))) {
      rounds[name] ??= {};
      rounds[name][shape.name] ??= [];
      rounds[name][shape.name].push(row);
    }
  } finally {
    await stand.stop();
  }
}
