/** From rounds to the figures that are quoted: medians and sums, and comparisons with the first shape within each round. */
import { median, rounded } from '../lib/stats.mjs';

const COUNTED = ['sent', 'failed', 'placed', 'alone', 'left', 'answered', 'differing'];
const COMPARED = ['perSecond', 'serviceMicros'];

/**
 * @param rounds rows by shape, in the order of the rounds
 * @param base shape that the others are held against, if there is one
 */
export function summarize(rounds, base) {
  const entries = Object.entries(rounds).map(([name, rows]) => {
    const ratios = name === base ? [] : COMPARED.flatMap((figure) => ratioOf(figure, rows, rounds[base]));
    return [name, { ...middle(rows), ...Object.fromEntries(ratios) }];
  });
  return Object.fromEntries(entries);
}

function middle(rows) {
  const entries = Object.keys(rows[0]).map((name) => {
    const values = rows.map((row) => row[name]);
    if (typeof values[0] === 'boolean') return [name, values.every(Boolean)];
    if (typeof values[0] === 'object' && values[0] !== null) return [name, middle(values)];
    if (COUNTED.includes(name)) return [name, values.reduce((sum, value) => sum + value, 0)];
    return [name, rounded(median(values))];
  });
  return Object.fromEntries(entries);
}

function ratioOf(figure, rows, base = []) {
  const ratios = rows
    .map((row, round) => row[figure] / base[round]?.[figure])
    .filter((ratio) => Number.isFinite(ratio) && ratio > 0);
  return ratios.length === 0 ? [] : [[`${figure}Ratio`, rounded(median(ratios))]];
}

/** What must not be: requests that failed or were not placed, and keys at two workers. */
export function problemsIn(scenarios) {
  return Object.entries(scenarios).flatMap(([scenario, { summary }]) =>
    Object.entries(summary).flatMap(([shape, row]) =>
      [
        [row.failed, `${row.failed} of ${row.sent} requests failed`],
        [row.placed - row.sent, `${row.placed} of ${row.sent} requests were placed`],
        [row.known.differing, `${row.known.differing} turns of known keys went to another worker`],
        // A claim that the store did not answer in time is decided alone, and what it leaves is told by `alone`.
        [
          row.second.differing > row.alone ? row.second.differing : 0,
          `${row.second.differing} second turns of new keys went to another worker`,
        ],
        [row.left, `${row.left} requests in flight were left`],
      ]
        .filter(([count]) => count !== 0)
        .map(([, problem]) => `${scenario} ${shape}: ${problem}`),
    ),
  );
}
