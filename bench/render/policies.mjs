/** Decisions by policy and number of workers, and at a steady rate. */
import { figure, size, table } from './format.mjs';

const timeOf = ({ median, micros }) => median ?? micros;

/** A column for each number of workers; tail, memory and growth where they were measured. */
export function policiesTable({ policies }) {
  const counts = [...new Set(policies.map((row) => row.workers))];
  const names = [...new Set(policies.map((row) => row.name))];
  const most = counts.at(-1);
  const tails = policies.every(({ p99 }) => p99 !== undefined);
  return table(
    [
      'workers',
      ...counts.map((count) => figure(count)),
      ...(tails ? [`p99 at ${figure(most)}`, 'allocated'] : []),
      ...(grows(counts) ? ['1,000 to 30', 'growth'] : []),
    ],
    names.map((name) => {
      const rows = new Map(policies.filter((row) => row.name === name).map((row) => [row.workers, row]));
      const last = rows.get(most);
      return [
        name,
        ...counts.map((count) => figure(timeOf(rows.get(count)), 'µs')),
        ...(tails ? [figure(last.p99, 'µs'), size(last.bytes)] : []),
        ...(grows(counts) ? growthOf(rows) : []),
      ];
    }),
  );
}

/** The policy whose whole decision takes longest with the most workers. */
export function slowest({ paced }) {
  return paced.reduce((a, b) => (a.micros >= b.micros ? a : b));
}

const grows = (counts) => [3, 30, 100, 1000].every((count) => counts.includes(count));

/**
 * As measured: flat up to one and a half times between 30 and 1,000 workers. What adds more from 100 to 1,000 than three
 * times what it added from 3 to 100 is linear (a straight line adds nine times as much), else logarithmic (0.7 times).
 */
function growthOf(rows) {
  const at = (workers) => timeOf(rows.get(workers));
  const ratio = at(1000) / at(30);
  const straight = at(1000) - at(100) > 3 * Math.max(0, at(100) - at(3));
  return [figure(ratio), ratio <= 1.5 ? 'flat' : straight ? 'linear' : 'logarithmic'];
}

export function pacedTable({ paced }) {
  return table(
    ['', 'a second', 'median', 'p99', 'longest', 'share of a processor', 'longest turn', 'longest collection'],
    paced.map((row) => [
      row.name,
      figure(row.perSecond),
      figure(row.micros, 'µs'),
      figure(row.p99, 'µs'),
      figure(row.longestMs, 'ms'),
      figure(row.share * 100, '%'),
      figure(row.longestTurnMs, 'ms'),
      figure(row.longestCollectionMs, 'ms'),
    ]),
  );
}
