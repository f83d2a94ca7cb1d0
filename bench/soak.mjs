/**
 * Mixed traffic for a long time through a real Envoy: `node bench/soak.mjs [--minutes 60] [--rate 1000] [--out FILE]`.
 * Keys in headers and in bodies, long bodies, answers in events, clients that leave before and in the middle of their
 * answer. Envoy ends each of its streams by a reset, its default.
 *
 * Samples the service each minute. Ends with exit code 1 when memory grew (the last quarter of the samples against the second),
 * something is left in flight, the event loop came late, a limit of the transport was reached, or a request failed or left its
 * worker. Reports requests whose periodic entries stayed away, which is no failure.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { ensureBuild, say } from '../scripts/setup.mjs';
import { begin, finish } from './lib/report.mjs';
import { median, rounded } from './lib/stats.mjs';

const { settings, report, out } = begin('soak', {
  minutes: 60,
  rate: 1000,
  'sample-seconds': 60,
  connections: 600,
  workers: 3,
  /** Memory of the last quarter, at most so many percent over the second. */
  'most-growth-percent': 3,
  'most-lag-ms': 5,
  /** What is open at the end has so long to end: longer than the net of 30 s that catches clients that left at a bad moment. */
  'settle-seconds': 45,
});
ensureBuild();
const { withStack } = await import('./end-to-end/lone-stack.mjs');
const { memoryOf } = await import('./end-to-end/scenarios.mjs');
const { VARIANTS } = await import('./end-to-end/variants.mjs');
const { metricsOf } = await import('./lib/metrics.mjs');
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

const KIB = 1024;
/** Period of the timers whose distance the metric measures: what is over it is lag. */
const LAG_PERIOD_MS = 10;
const SLOWLY = { events: 10, everyMs: 30 };
/** Shares of a hundred. A service that takes the header first asks for the body where there is none. */
const MIX = [
  { name: 'header', share: 48, key: 'header', bodyBytes: KIB },
  { name: 'rid', share: 24, key: 'rid', bodyBytes: KIB },
  { name: 'long', share: 2, key: 'rid-last', bodyBytes: 220 * KIB },
  { name: 'events', share: 12, key: 'header', bodyBytes: KIB, ...SLOWLY },
  { name: 'rid-events', share: 6, key: 'rid', bodyBytes: KIB, ...SLOWLY },
  { name: 'leaves-answered', share: 3, key: 'header', bodyBytes: KIB, ...SLOWLY, leave: 'answered' },
  { name: 'rid-leaves-answered', share: 2, key: 'rid', bodyBytes: KIB, ...SLOWLY, leave: 'answered' },
  { name: 'leaves-waiting', share: 2, key: 'header', bodyBytes: KIB, holdMs: 200, leave: 'waiting' },
  { name: 'rid-leaves-waiting', share: 1, key: 'rid', bodyBytes: KIB, holdMs: 200, leave: 'waiting' },
];

report.mix = MIX;
report.samples = [];
const { flags, ...header } = VARIANTS.find(({ name }) => name === 'header-1k');
// Requests of a key come at random here, not in turn: several at once would move it, as they are meant to (sticky-sessions 3.5).
const variant = { ...header, flags: [...flags, '--pin-inflight-cap', '0'] };
await withStack(report, variant, [], settings.workers, soak);
report.judged = judged(report.samples, report.end);
report.problems = problemsOf(report.judged, report.end);
for (const problem of report.problems) say(problem);
say(JSON.stringify(report.judged));
say(`${report.end.periodicLost} requests were released because their periodic entries stayed away`);
finish(report, out);
process.exitCode = report.problems.length === 0 ? 0 : 1;

async function soak(stack) {
  const { port, client, admin } = stack;
  const total = { sent: 0, failed: 0, split: 0, left: 0 };
  const statuses = {};
  for (let left = settings.minutes * 60; left > 0; left -= settings['sample-seconds']) {
    const seconds = Math.min(left, settings['sample-seconds']);
    const { rate, connections } = settings;
    const order = { kind: 'paced', name: 'soak', mix: MIX, keys: 500, port, rate, seconds, connections };
    const [seen, sample] = await Promise.all([client.ask(order), pause(seconds * 900).then(() => sampleOf(stack))]);
    for (const name of Object.keys(total)) total[name] += seen[name];
    for (const [status, count] of Object.entries(seen.statuses)) statuses[status] = (statuses[status] ?? 0) + count;
    const { p50Ms, p99Ms } = seen;
    report.samples.push({ ...sample, failed: seen.failed, p50Ms: rounded(p50Ms), p99Ms: rounded(p99Ms) });
    say(JSON.stringify(report.samples.at(-1)));
  }
  const patience = performance.now() + settings['settle-seconds'] * 1000;
  let last = await sampleOf(stack);
  while (last.inFlight > 0 && performance.now() < patience) {
    await pause(200);
    last = await sampleOf(stack);
  }
  const metrics = await metricsOf(admin);
  report.end = {
    ...total,
    statuses,
    inFlight: last.inFlight,
    openCalls: last.openCalls,
    rssMiB: last.rssMiB,
    releases: metrics.each('smg_envoy_releases_total'),
    logEntries: metrics.each('smg_envoy_access_log_entries_total'),
    periodicLost: metrics.sum('smg_envoy_releases_total', 'reason="periodic_lost"'),
    limits: metrics.each('smg_envoy_transport_limits_total'),
    resets: metrics.sum('smg_envoy_resets_received_total'),
    handlerErrors: metrics.sum('smg_envoy_handler_errors_total'),
  };
}

/** The lag is that since the sample before: its histogram begins anew with each reading. */
async function sampleOf(stack) {
  const metrics = await metricsOf(stack.admin);
  const { service, envoy } = memoryOf(stack);
  return {
    rssMiB: service.rssMiB,
    heapMiB: rounded(metrics.sum('nodejs_heap_size_used_bytes') / 2 ** 20),
    externalMiB: rounded(metrics.sum('nodejs_external_memory_bytes') / 2 ** 20),
    envoyMiB: envoy.rssMiB,
    inFlight: metrics.sum('smg_envoy_picks_in_flight'),
    openCalls: metrics.sum('smg_envoy_open_calls'),
    pins: metrics.sum('smg_envoy_pins'),
    lagP99Ms: rounded(metrics.sum('nodejs_eventloop_lag_p99_seconds') * 1000 - LAG_PERIOD_MS),
    lagMeanMs: rounded(metrics.sum('nodejs_eventloop_lag_mean_seconds') * 1000 - LAG_PERIOD_MS),
  };
}

/** The first sample of the lag holds the start. */
function judged(samples, end) {
  const quarter = (number) => samples.slice((samples.length * (number - 1)) >> 2, (samples.length * number) >> 2);
  const middle = (of, number) => median(quarter(number).map((sample) => sample[of]));
  const growth = (of) => rounded((middle(of, 4) / middle(of, 2) - 1) * 100);
  return {
    rssGrowthPercent: samples.length < 4 ? null : growth('rssMiB'),
    heapGrowthPercent: samples.length < 4 ? null : growth('heapMiB'),
    lagP99Ms: samples.length < 2 ? null : Math.max(...samples.slice(1).map(({ lagP99Ms }) => lagP99Ms)),
    failed: end.failed,
  };
}

function problemsOf({ rssGrowthPercent, lagP99Ms }, { sent, failed, split, inFlight, handlerErrors, limits }) {
  return [
    [rssGrowthPercent === null, 'too few samples to judge memory'],
    [rssGrowthPercent > settings['most-growth-percent'], `memory grew by ${rssGrowthPercent} %`],
    [lagP99Ms > settings['most-lag-ms'], `the event loop was ${lagP99Ms} ms late (p99 of the worst sample)`],
    [inFlight > 0, `${inFlight} requests are left in flight`],
    [failed > 0, `${failed} of ${sent} requests failed`],
    [split > 0, `${split} of ${sent} requests left their worker`],
    [handlerErrors > 0, `${handlerErrors} calls failed inside the service`],
    [Object.keys(limits).length > 0, `limits of the transport were reached: ${JSON.stringify(limits)}`],
  ]
    .filter(([wrong]) => wrong)
    .map(([, what]) => what);
}
