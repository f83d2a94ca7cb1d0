/** One process of the service, and several that share their pins. */
import { SHAPES } from '../multi-core/shapes.mjs';
import { figure, table } from './format.mjs';
import { from, problemsText } from './sources.mjs';

/** One row for each shape that was measured. */
function rowsOf(by, cells) {
  return SHAPES.filter(({ name }) => by[name] !== undefined).map(({ name, title }) => [
    title,
    ...cells(by[name], name),
  ]);
}

function costTable({ summary }) {
  return table(
    [
      '',
      'a second',
      'to the first',
      'service CPU',
      'to the first',
      'Redis CPU',
      'messages a second',
      'largest process',
      'all processes',
    ],
    rowsOf(summary, (row) => [
      figure(row.perSecond),
      figure(row.perSecondRatio),
      figure(row.serviceMicros, 'µs'),
      figure(row.serviceMicrosRatio),
      figure(row.redisMicros, 'µs'),
      figure(row.messages),
      figure(row.rssMiB, 'MB'),
      figure(row.pssMiB, 'MB'),
    ]),
  );
}

function pacedTable({ summary }, idle) {
  return table(
    [
      '',
      'service CPU',
      'to the first',
      'Redis CPU',
      'messages a second',
      'known key, p50',
      'p99',
      'new key, p50',
      'p99',
      'just made elsewhere, p50',
      'p99',
      'idle, service',
      'idle, Redis',
    ],
    rowsOf(summary, (row, name) => [
      row.rateHeld ? figure(row.serviceMicros, 'µs') : 'not held',
      figure(row.serviceMicrosRatio),
      figure(row.redisMicros, 'µs'),
      figure(row.messages),
      ...[row.known, row.new, row.second].flatMap(({ p50Ms, p99Ms }) => [figure(p50Ms, 'ms'), figure(p99Ms, 'ms')]),
      figure(idle[name].serviceMs, 'ms'),
      figure(idle[name].redisMs, 'ms'),
    ]),
  );
}

/** Sums over all rounds of all scenarios. */
function placesTable(scenarios) {
  const all = Object.values(scenarios).map(({ summary }) => summary);
  const sum = (name, of) => all.reduce((total, summary) => total + of(summary[name]), 0);
  return table(
    [
      '',
      'requests',
      'failed',
      'turns of known keys',
      'at another worker',
      'second turns of new keys',
      'at another worker',
      'decided alone',
    ],
    rowsOf(all[0], (_, name) =>
      [
        sum(name, ({ sent }) => sent),
        sum(name, ({ failed }) => failed),
        sum(name, ({ known }) => known.answered),
        sum(name, ({ known }) => known.differing),
        sum(name, ({ second }) => second.answered),
        sum(name, ({ second }) => second.differing),
        sum(name, ({ alone }) => alone),
      ].map((value) => figure(value)),
    ),
  );
}

export function multiCoreText(result) {
  const { settings, scenarios, idle, pinned, quiet } = result;
  const { saturation, paced } = scenarios;
  const cores = pinned
    ? 'All processes of the service share the last core; the client and Redis have the first. So "a second" is what one core gives in each shape, and what more cores would add is not in it.'
    : 'Processes were not kept on cores of their own, so that all take processor time from each other.';
  const parts = [
    `## One process or several

${from(result)}

The same requests with a key in a header, from a client that plays an Envoy on ${settings.connections} connections and spreads them over the
processes: ${figure(settings.keys)} known keys, whose turns go from process to process, and ${figure(settings['new-percent'])} % first turns of new keys and second ones at another
process. The access log tells the end of a request ${figure(settings['hold-ms'], 'ms')} after its pick, so that processes tell each other of it. CPU is processor
time for one request, of all processes of the service together, and of Redis; messages are those about requests in flight that all
processes received. ${cores}
A figure is the median of ${settings.rounds} rounds of ${figure(settings.seconds, 's')}, a ratio that of the ratios within each round. Before and after, ${quiet.map((share) => figure(share * 100, '%')).join(' and ')} of the machine's processor time was idle.

${placesTable(scenarios)}

Decided alone: claims of new keys that Redis did not answer in time, on a core that several processes share.

${problemsText(result)}`,
  ];
  if (saturation !== undefined)
    parts.push(`**As many as they answer**, ${settings.places} at once. Memory is resident for the largest process, and without what they share for all of them.

${costTable(saturation)}`);
  if (paced !== undefined)
    parts.push(`**At ${figure(settings.rate)} requests a second.** A key that was just made elsewhere is asked as soon as the first answer is there. Idle is processor
time of each second without a request, of all processes.

${pacedTable(paced, idle)}`);
  return `${parts.join('\n\n')}\n`;
}
