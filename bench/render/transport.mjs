/** The service asked by a client that plays Envoy: our own HTTP/2 beside grpc-js. */
import { TRANSPORTS, VARIANTS } from '../transport/variants.mjs';
import { figure, table } from './format.mjs';
import { from, problemsText } from './sources.mjs';

const [OURS, BASE] = TRANSPORTS;

/** One row for each variant that both transports have done. */
function rowsOf({ summary }, cells) {
  return VARIANTS.filter(({ name }) => summary[name]?.[OURS] !== undefined && summary[name][BASE] !== undefined).map(
    ({ name, title }) => [title, ...cells(summary[name][OURS], summary[name][BASE])],
  );
}

/** A ratio, and the least and the greatest of the rounds. */
function spread(row, name) {
  const ends = row[`${name}Spread`];
  const ratio = figure(row[`${name}Ratio`]);
  return ends === undefined || ends[0] === ends[1]
    ? ratio
    : `${ratio} (${ends.map((end) => figure(end)).join(' to ')})`;
}

function saturationTable(scenario) {
  return table(
    ['', `${OURS}, a second`, `${BASE}, a second`, 'ratio', `${OURS}, CPU`, `${BASE}, CPU`, 'ratio'],
    rowsOf(scenario, (ours, base) => [
      figure(ours.perSecond),
      figure(base.perSecond),
      spread(ours, 'perSecond'),
      figure(ours.cpuMicros, 'µs'),
      figure(base.cpuMicros, 'µs'),
      spread(ours, 'cpuMicros'),
    ]),
  );
}

function pacedTable(scenario) {
  const names = ['p50', 'p99'].flatMap((name) => [`${name}, ${OURS}`, `${name}, ${BASE}`, 'ratio']);
  return table(
    ['', ...names, `CPU, ${OURS}`, `CPU, ${BASE}`, 'ratio'],
    rowsOf(scenario, (ours, base) => [
      ...['p50Ms', 'p99Ms'].flatMap((name) => [
        late(ours, figure(ours[name], 'ms')),
        late(base, figure(base[name], 'ms')),
        figure(ours[`${name}Ratio`]),
      ]),
      late(ours, figure(ours.cpuMicros, 'µs')),
      late(base, figure(base.cpuMicros, 'µs')),
      figure(ours.cpuMicrosRatio),
    ]),
  );
}

/** Latency at a rate that was not held says how long the queue had grown, no more. */
function late({ rateHeld }, text) {
  return rateHeld ? text : 'not held';
}

function idleTable({ summary }) {
  return table(
    ['', 'open', 'open calls, by its own count', 'each', 'resident with all of them'],
    Object.entries(summary.header).map(([name, { answered, openCalls, kibEach, rssMiB }]) => [
      name,
      figure(answered),
      figure(openCalls),
      figure(kibEach, 'KB'),
      figure(rssMiB, 'MB'),
    ]),
  );
}

function verdictsTable(verdicts) {
  return table(
    ['', 'promised', 'measured', 'met'],
    verdicts.map(({ what, budget, ratio, met }) => [what, budget, figure(ratio), met ? 'yes' : '**no**']),
  );
}

export function transportText(result) {
  const { settings, scenarios, verdicts = [], pinned } = result;
  const { saturation, paced, fast, idle } = scenarios;
  const cores = pinned
    ? 'Both services share the last core, the client has the first.'
    : 'Client and services were not kept on cores of their own, so that they take processor time from each other.';
  const parts = [
    `## The transport

${from(result)}

The service asked by a client that plays Envoy on ${settings.connections} connections: HTTP/2 and gRPC of our own (\`${OURS}\`) and \`--transport ${BASE}\`,
without an Envoy between. A stream is one request of ext_proc, or one call of ext_authz. CPU is the processor time of the
service process for one stream, all of it. ${cores}
They take turns; a figure is the median of ${settings.rounds} rounds of ${settings.seconds} s, a ratio is ${OURS} to ${BASE} within a round: its median, and in brackets its least and greatest. What a request
costs with Envoy in the path, these tables do not show.

${problemsText(result)}`,
  ];
  if (saturation !== undefined)
    parts.push(
      `**As many as it answers**, ${settings.streams} at a time on each connection.\n\n${saturationTable(saturation)}`,
    );
  if (paced !== undefined)
    parts.push(`**At ${figure(settings.rate)} streams a second**, evenly spaced; latency counts from the time a stream was due.

${pacedTable(paced)}`);
  if (fast !== undefined) parts.push(`**At ${figure(settings['fast-rate'])} a second.**\n\n${pacedTable(fast)}`);
  if (idle !== undefined)
    parts.push(`**${figure(settings.open)} streams that stay open** with their answer, on a service that has done little before: resident memory
that came, for each. Once: no median.

${idleTable(idle)}`);
  if (verdicts.length > 0) parts.push(verdictsTable(verdicts));
  return `${parts.join('\n\n')}\n`;
}
