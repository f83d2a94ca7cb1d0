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

/** Sums over all that was measured. */
function placesTable(scenarios) {
  const all = Object.values(scenarios).map(({ summary }) => summary);
  const head = ['requests', 'failed', 'turns of known keys', 'at another worker'];
  return table(
    ['', ...head, 'second turns of new keys', 'at another worker', 'decided alone'],
    rowsOf(all[0], (_, name) => {
      const sum = (of) => figure(all.reduce((total, summary) => total + of(summary[name]), 0));
      return [
        sum(({ sent }) => sent),
        sum(({ failed }) => failed),
        sum(({ known }) => known.answered),
        sum(({ known }) => known.differing),
        sum(({ second }) => second.answered),
        sum(({ second }) => second.differing),
        sum(({ alone }) => alone),
      ];
    }),
  );
}

function costTable({ summary }, idle) {
  return table(
    [
      '',
      'service CPU',
      'to the first',
      'Redis CPU',
      'visits of pins',
      'messages a second',
      'idle, service',
      'idle, Redis',
    ],
    rowsOf(summary, ({ rateHeld, serviceMicros, serviceMicrosRatio, redisMicros, visits, messages }, name) => [
      rateHeld ? figure(serviceMicros, 'µs') : 'not held',
      figure(serviceMicrosRatio),
      figure(redisMicros, 'µs'),
      figure(visits),
      figure(messages),
      figure(idle[name].serviceMs, 'ms'),
      figure(idle[name].redisMs, 'ms'),
    ]),
  );
}

function waitTable({ summary }) {
  const head = ['known key', 'new key', 'just made elsewhere'].flatMap((name) => [`${name}, p50`, 'p99']);
  return table(
    ['', ...head],
    rowsOf(summary, (row) =>
      [row.known, row.new, row.second].flatMap(({ p50Ms, p99Ms }) => [figure(p50Ms, 'ms'), figure(p99Ms, 'ms')]),
    ),
  );
}

function fullTable({ summary }) {
  return table(
    ['', 'a second', 'to the first', 'service CPU', 'Redis CPU', 'visits of pins', 'largest process', 'all processes'],
    rowsOf(summary, (row) => [
      figure(row.perSecond),
      figure(row.perSecondRatio),
      figure(row.serviceMicros, 'µs'),
      figure(row.redisMicros, 'µs'),
      figure(row.visits),
      figure(row.rssMiB, 'MB'),
      figure(row.pssMiB, 'MB'),
    ]),
  );
}

export function multiCoreText(result) {
  const { settings, scenarios, idle, pinned, quiet } = result;
  const cores = pinned
    ? 'All processes of the service\nshare the last core; the client and Redis have the first. So more processes show what they cost, and not what more cores would add.'
    : 'Processes\nwere not kept on cores of their own, so that all take processor time from each other.';
  const often =
    settings.rounds === 1 ? 'Each figure is from one run' : `A figure is the median of ${settings.rounds} runs`;
  return `## One process or several

${from(result)}

The same requests with a key in a header, from a client that plays an Envoy on ${settings.connections} connections and spreads them over the
processes: ${figure(settings.keys)} known keys, whose turns go from process to process, and ${figure(settings['new-percent'], '%')} first turns of new keys and second turns at
another process. CPU is processor time for one request, of all processes of the service together, and of Redis; messages are those about
requests in flight, as all processes receive them. ${cores}
${often}; before and after, ${quiet.map((share) => figure(share * 100, '%')).join(' and ')} of the machine's processor time was idle.

${placesTable(scenarios)}

Decided alone are claims that Redis did not answer in time. The others of the shape then learn of the key when it was told.

${problemsText(result)}

**At ${figure(settings.rate)} requests a second**, for ${figure(settings.seconds, 's')}. The access log tells the end of a request ${figure(settings['hold-ms'], 'ms')} after its pick. A visit is the call
by which a process keeps a pin that it used alive in Redis, at most one in 10 s; the column has how many come to a request. Idle is
processor time in a second without a request, before anything was asked.

${costTable(scenarios.paced, idle)}

The time until the answer, at this rate; a key that was just made elsewhere is asked for as soon as the first answer is there.

${waitTable(scenarios.paced)}

**As many as they answer**, ${settings.places} at once. Memory is resident: of the largest process, and of all, what they share counted once.

${fullTable(scenarios.saturation)}
`;
}
