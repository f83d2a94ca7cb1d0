/** Mixed traffic for a long time: what the samples of the service say, quarter by quarter. */
import { median } from '../lib/stats.mjs';
import { figure, signed, table } from './format.mjs';
import { from, problemsText } from './sources.mjs';

/** As the benchmark itself divides them. */
function quartersOf(samples) {
  return [1, 2, 3, 4]
    .map((number) => ({
      number,
      rows: samples.slice((samples.length * (number - 1)) >> 2, (samples.length * number) >> 2),
    }))
    .filter(({ rows }) => rows.length > 0);
}

function quartersTable({ samples }) {
  const middle = (rows, name) => median(rows.map((row) => row[name]));
  const most = (rows, name) => Math.max(...rows.map((row) => row[name]));
  return table(
    [
      'quarter',
      'resident',
      'heap',
      'outside it',
      'Envoy',
      'lag p99',
      'worst',
      'lag mean',
      'in flight',
      'most',
      'pins',
      'latency p50',
      'p99',
      'failed',
    ],
    quartersOf(samples).map(({ number, rows }) => [
      `${number}, ${rows.length} samples`,
      figure(middle(rows, 'rssMiB'), 'MB'),
      figure(middle(rows, 'heapMiB'), 'MB'),
      figure(middle(rows, 'externalMiB'), 'MB'),
      figure(middle(rows, 'envoyMiB'), 'MB'),
      figure(middle(rows, 'lagP99Ms'), 'ms'),
      figure(most(rows, 'lagP99Ms'), 'ms'),
      figure(middle(rows, 'lagMeanMs'), 'ms'),
      figure(middle(rows, 'inFlight')),
      figure(most(rows, 'inFlight')),
      figure(middle(rows, 'pins')),
      figure(middle(rows, 'p50Ms'), 'ms'),
      figure(middle(rows, 'p99Ms'), 'ms'),
      figure(rows.reduce((sum, row) => sum + row.failed, 0)),
    ]),
  );
}

function endTable({ end, judged }) {
  const { sent, failed, split, left, releases, inFlight, openCalls, resets, limits, handlerErrors, rssMiB } = end;
  return table(
    ['over all of it', ''],
    [
      ['requests', figure(sent)],
      ['failed', figure(failed)],
      ['left the worker of their conversation', figure(split)],
      ['ended by their client, as was meant', figure(left)],
      ['in flight when all had ended', figure(inFlight)],
      ['streams open then', figure(openCalls)],
      ...Object.entries(releases).map(([label, count]) => [`released, ${label.replaceAll('"', '')}`, figure(count)]),
      ['resets received', figure(resets)],
      ['limits of the transport reached', figure(Object.values(limits).reduce((sum, count) => sum + count, 0))],
      ['calls that failed inside the service', figure(handlerErrors)],
      ['resident at the end', figure(rssMiB, 'MB')],
      ['resident, last quarter to the second', signed(judged.rssGrowthPercent, '%')],
      ['heap, last quarter to the second', signed(judged.heapGrowthPercent, '%')],
      ['lag p99, worst sample but the first', figure(judged.lagP99Ms, 'ms')],
    ],
  );
}

/** Shares of the mix by what the requests are like. */
function mixText(mix) {
  const sum = (holds) => figure(mix.filter(holds).reduce((total, { share }) => total + share, 0));
  const longest = Math.max(...mix.map(({ bodyBytes }) => bodyBytes));
  return `Of a hundred requests ${sum(({ key }) => key === 'header')} have their key in a header and ${sum(({ key }) => key !== 'header')} in the body, ${sum(({ bodyBytes }) => bodyBytes === longest)} have
${figure(longest / 1024, 'KB')} and the others 1 KB, ${sum(({ events }) => events !== undefined)} are answered in events, and the clients of ${sum(({ leave }) => leave !== undefined)} leave before or amid their answer.`;
}

export function soakText(result) {
  const { settings, mix } = result;
  return `## ${figure(settings.minutes, 'minutes')} of mixed traffic

${from(result)}

${figure(settings.rate)} requests a second. ${mixText(mix)} Envoy ends each stream by a reset.
A sample each ${figure(settings['sample-seconds'], 's')}: a figure is the median of a quarter of them, "worst" and "most" are the greatest. Lag is how late
the event loop came, over the 10 ms of its timer; a sample has the time since the one before, the first has the start.
Latency is that of all requests, those with slow answers among them, and is that of the whole path.

${quartersTable(result)}

${endTable(result)}

${problemsText(result)}
`;
}
