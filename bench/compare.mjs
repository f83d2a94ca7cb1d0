/**
 * The working tree against another commit: `node bench/compare.mjs BASE [transport|micro] [--out FILE]`.
 *
 * BASE is checked out, installed and built in a folder of its own, which is removed at the end. Both take turns. Prints for each
 * figure the ratio of the working tree to BASE: the median of the ratios within rounds, the least and the greatest. Ends with
 * exit code 1 when a figure is worse by more than `--worse-percent` in the median, and worse in every round: noise is seldom
 * so steady. `--only` takes some variants of the transport, or other parts of the micro-benchmark.
 */
import { ensureBuild, say } from '../scripts/setup.mjs';
import { begin, finish } from './lib/report.mjs';
import { median, rounded } from './lib/stats.mjs';

const { settings, positionals, only, report, out } = begin('compare', {
  rounds: 5,
  seconds: 3,
  connections: 2,
  streams: 32,
  rate: 1000,
  'worse-percent': 15,
});
const [name, bench = 'transport'] = positionals;
const BENCHES = {
  transport: async () => (await import('./compare/transport.mjs')).transportRounds,
  micro: async () => (await import('./compare/micro.mjs')).microRounds,
};
if (name === undefined || !(bench in BENCHES)) {
  say(`usage: node bench/compare.mjs BASE [${Object.keys(BENCHES).join('|')}]`);
  process.exit(2);
}
ensureBuild();
const { checkOut } = await import('./compare/base-checkout.mjs');
const base = checkOut(name);
// A signal ends the process by its exit, so that nothing is left behind.
process.once('exit', () => base.remove());
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

const figures = new Map();
const rounds = await BENCHES[bench]();
for await (const { name: figure, unit, lessIsBetter, base: before, ours } of rounds({ base, settings, only })) {
  if (!figures.has(figure)) figures.set(figure, { unit, lessIsBetter, base: [], ours: [], ratios: [] });
  const row = figures.get(figure);
  row.base.push(before);
  row.ours.push(ours);
  row.ratios.push(ours / before);
}
report.bench = bench;
report.base = base.commit;
report.figures = [...figures].map(([figure, row]) => judged(figure, row));
for (const { figure, unit, base: before, ours, ratio, least, greatest, worse } of report.figures) {
  say(
    `${figure.padEnd(48)} ${before} → ${ours} ${unit}, ratio ${ratio} (${least} to ${greatest})${worse ? ' WORSE' : ''}`,
  );
}
finish(report, out);
process.exitCode = report.figures.some(({ worse }) => worse) ? 1 : 0;

function judged(figure, { unit, lessIsBetter, base: before, ours, ratios }) {
  const most = settings['worse-percent'] / 100;
  const loss = (ratio) => (lessIsBetter ? ratio - 1 : 1 / ratio - 1);
  return {
    figure,
    unit,
    base: rounded(median(before)),
    ours: rounded(median(ours)),
    ratio: rounded(median(ratios)),
    least: rounded(Math.min(...ratios)),
    greatest: rounded(Math.max(...ratios)),
    worse: loss(median(ratios)) > most && ratios.every((ratio) => loss(ratio) > 0),
  };
}
