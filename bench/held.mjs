/**
 * Many answers in events at once, through an Envoy with its default circuit breakers towards the service (1,024 requests):
 * `node bench/held.mjs [--open 5000] [--hold-ms 30000] [--out FILE]`. Runs with 100, 1,000 and `--open` answers, keys in headers and
 * in bodies. The last request comes `open / ramp` seconds after the first, and answers last so much longer, so that all are open at
 * once for `--hold-ms`. Ends with exit code 1 when a request failed, was not placed, left its worker, or took too much memory.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { ensureBuild, say } from '../scripts/setup.mjs';
import { begin, finish } from './lib/report.mjs';

const { settings, only, report, out } = begin('held', {
  open: 5000,
  'hold-ms': 30_000,
  /** Requests that come a second. */
  ramp: 500,
  /** Events of each answer. */
  events: 10,
  workers: 3,
  'bytes-of-rid': 1024,
  /** The service may be so large with all of them open. */
  'most-mib': 120,
});
ensureBuild();
const { withStack } = await import('./end-to-end/lone-stack.mjs');
const { defaultBreakers } = await import('./end-to-end/envoy-edits.mjs');
const { memoryOf } = await import('./end-to-end/scenarios.mjs');
const { VARIANTS } = await import('./end-to-end/variants.mjs');
const { metricsOf } = await import('./lib/metrics.mjs');
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

const NAMES = ['header-1k', 'rid-1k', 'header-1k-grpc-js', 'rid-1k-grpc-js'];
const wanted = VARIANTS.filter(({ name }) => (only ?? NAMES.slice(0, 2)).includes(name));
const counts = [100, 1000, settings.open].filter((count) => count <= settings.open);

report.rows = [];
for (const variant of wanted) {
  await withStack(report, variant, [defaultBreakers], settings.workers, async (stack) => {
    for (const open of [...new Set(counts)]) {
      const row = { variant: variant.name, title: variant.title, open, ...(await hold(variant, stack, open)) };
      report.rows.push(row);
      say(JSON.stringify(row));
    }
  });
}
report.problems = report.rows.flatMap(problemsOf);
for (const problem of report.problems) say(problem);
finish(report, out);
process.exitCode = report.problems.length === 0 ? 0 : 1;

async function hold(variant, stack, open) {
  const rampMs = (open * 1000) / settings.ramp;
  const everyMs = Math.ceil((settings['hold-ms'] + rampMs) / (settings.events - 1));
  const before = await stateOf(stack);
  const answer = stack.client.ask({
    kind: 'held',
    name: `${variant.name}-${open}`,
    key: variant.key,
    bodyBytes: settings['bytes-of-rid'],
    port: stack.port,
    connections: open,
    keys: open,
    ramp: settings.ramp,
    events: settings.events,
    everyMs,
  });
  // In the middle of the time in which all are open.
  const sampled = pause(rampMs + settings['hold-ms'] / 2).then(() => stateOf(stack));
  const [seen, during] = await Promise.all([answer, sampled]);
  const after = await stateOf(stack);
  return {
    sent: seen.sent,
    failed: seen.failed,
    split: seen.split,
    statuses: seen.statuses,
    placed: after.placed - before.placed,
    /** Of the service: requests without an end so far, and its streams. */
    inFlight: during.inFlight,
    openCalls: during.openCalls,
    overflowed: Object.values(await stack.counters('cluster\\.picker\\.upstream_rq.*overflow')).reduce(
      (a, b) => a + b,
      0,
    ),
    serviceMiB: during.memory.service.rssMiB,
    envoyMiB: during.memory.envoy.rssMiB,
    serviceKiBEach: Math.round(((during.memory.service.rssMiB - before.memory.service.rssMiB) * 10_240) / open) / 10,
    envoyKiBEach: Math.round(((during.memory.envoy.rssMiB - before.memory.envoy.rssMiB) * 10_240) / open) / 10,
  };
}

async function stateOf(stack) {
  const metrics = await metricsOf(stack.admin);
  return {
    placed: metrics.placed,
    inFlight: metrics.sum('smg_envoy_picks_in_flight'),
    openCalls: metrics.sum('smg_envoy_open_calls'),
    memory: memoryOf(stack),
  };
}

function problemsOf({ variant, open, sent, failed, split, placed, inFlight, serviceMiB, overflowed }) {
  const named = `${variant}, ${open} open`;
  const most = settings['most-mib'];
  return [
    [failed > 0, `${failed} of ${sent} requests failed`],
    [split > 0, `${split} of ${sent} requests left their worker`],
    [placed !== sent, `${placed} of ${sent} requests were placed`],
    [overflowed > 0, `${overflowed} requests met a circuit breaker`],
    [inFlight !== open, `${inFlight} were open at once`],
    [serviceMiB > most, `the service took ${serviceMiB} MB, more than ${most}`],
  ]
    .filter(([wrong]) => wrong)
    .map(([, what]) => `${named}: ${what}`);
}
