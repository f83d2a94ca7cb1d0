/** From rounds to the figures that are quoted: medians, and comparisons made within each round. */
import { median, rounded } from '../lib/stats.mjs';

const COUNTED = ['sent', 'failed', 'placed', 'reconnects', 'collections', 'answered'];
const COMPARED = ['perSecond', 'cpuMicros', 'p50Ms', 'p99Ms', 'p999Ms'];

/**
 * @param rounds rows by variant, then by stand, in the order of the rounds
 * @param base stand that the others are held against
 */
export function summarize(rounds, base) {
  return Object.fromEntries(
    Object.entries(rounds).map(([variant, stands]) => [
      variant,
      Object.fromEntries(
        Object.entries(stands).map(([name, rows]) => [
          name,
          { ...middle(rows), ...(name === base || stands[base] === undefined ? {} : compared(rows, stands[base])) },
        ]),
      ),
    ]),
  );
}

function middle(rows) {
  const figures = {};
  for (const name of Object.keys(rows[0])) {
    const values = rows.map((row) => row[name]);
    if (typeof values[0] === 'boolean') figures[name] = values.every(Boolean);
    else
      figures[name] = COUNTED.includes(name) ? values.reduce((sum, value) => sum + value, 0) : rounded(median(values));
  }
  return figures;
}

/** Ratios to the same round of the base: the middle one, and the least and the greatest. */
function compared(rows, base) {
  const figures = {};
  for (const name of COMPARED) {
    const ratios = rows
      .map((row, round) => (row[name] == null || base[round]?.[name] == null ? null : row[name] / base[round][name]))
      .filter((ratio) => ratio !== null && Number.isFinite(ratio));
    if (ratios.length === 0) continue;
    figures[`${name}Ratio`] = rounded(median(ratios));
    figures[`${name}Spread`] = [rounded(Math.min(...ratios)), rounded(Math.max(...ratios))];
  }
  return figures;
}

/** What was promised of the first transport against the last (ratios of medians within rounds). */
export function verdicts({ saturation, paced }) {
  const alone = saturation?.summary.health?.http2;
  const full = saturation?.summary.header?.http2;
  const slow = paced?.summary.header?.http2;
  return [
    ['calls a second, the transport alone', 'at least 8 times grpc-js', alone?.perSecondRatio, (ratio) => ratio >= 8],
    [
      'processor time of a call, the transport alone',
      'at most 1/6 of grpc-js',
      alone?.cpuMicrosRatio,
      (ratio) => ratio <= 1 / 6,
    ],
    ['streams a second, key in a header', 'at least 8 times grpc-js', full?.perSecondRatio, (ratio) => ratio >= 8],
    ['processor time of a stream', 'at most 1/6 of grpc-js', full?.cpuMicrosRatio, (ratio) => ratio <= 1 / 6],
    ['p99 at the lower rate', 'at most 1/2 of grpc-js', slow?.p99MsRatio, (ratio) => ratio <= 1 / 2],
  ]
    .filter(([, , ratio]) => ratio !== undefined)
    .map(([what, budget, ratio, holds]) => ({ what, budget, ratio, met: holds(ratio) }));
}

/** What must not be with our own transport: calls that failed, or that the service did not place. */
export function problemsIn(scenarios, only = 'http2') {
  return Object.entries(scenarios).flatMap(([scenario, { summary }]) =>
    Object.entries(summary).flatMap(([variant, stands]) => {
      const row = stands[only];
      if (row === undefined) return [];
      const named = `${scenario} ${variant}`;
      return [
        ...(row.failed > 0 ? [`${named}: ${row.failed} of ${row.sent ?? row.answered} calls failed`] : []),
        ...(row.placed !== undefined && row.placed !== row.sent
          ? [`${named}: ${row.placed} of ${row.sent} were placed`]
          : []),
        ...(row.reconnects > 0 ? [`${named}: ${row.reconnects} connections were lost`] : []),
      ];
    }),
  );
}
