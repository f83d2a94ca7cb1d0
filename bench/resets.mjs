/**
 * Envoy's default end of a stream, a reset of each (envoy 3.2): `node bench/resets.mjs [--minutes 10] [--rate 2000] [--out FILE]`.
 * The generated configuration; keys in headers. Ends with exit code 1 when a limit of the transport was reached or a pick failed: a
 * request that was answered by an error, was not placed, left its worker, or that Envoy let through without an answer of the service.
 */
import { ensureBuild, say } from '../scripts/setup.mjs';
import { begin, finish } from './lib/report.mjs';

const { settings, only, report, out } = begin('resets', {
  minutes: 10,
  rate: 2000,
  connections: 256,
  workers: 3,
  'step-seconds': 30,
});
ensureBuild();
const { withStack } = await import('./end-to-end/lone-stack.mjs');
const { VARIANTS } = await import('./end-to-end/variants.mjs');
const { metricsOf } = await import('./lib/metrics.mjs');
const { memory } = await import('./lib/proc.mjs');
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

const variants = VARIANTS.filter(({ name }) => (only ?? ['header-1k']).includes(name));
report.rows = [];
for (const variant of variants) await withStack(report, variant, [], settings.workers, (stack) => play(variant, stack));
report.problems = report.rows.flatMap(problemsOf);
for (const problem of report.problems) say(problem);
finish(report, out);
process.exitCode = report.problems.length === 0 ? 0 : 1;

async function play(variant, stack) {
  const row = { variant: variant.name, sent: 0, failed: 0, split: 0, p99Ms: 0, statuses: {} };
  const before = (await metricsOf(stack.admin)).placed;
  for (let left = settings.minutes * 60; left > 0; left -= settings['step-seconds']) {
    const seen = await stack.client.ask({
      kind: 'paced',
      name: variant.name,
      key: variant.key,
      bodyBytes: variant.bodyBytes,
      port: stack.port,
      keys: 500,
      rate: settings.rate,
      seconds: Math.min(left, settings['step-seconds']),
      connections: settings.connections,
    });
    for (const of of ['sent', 'failed', 'split']) row[of] += seen[of];
    for (const [status, count] of Object.entries(seen.statuses))
      row.statuses[status] = (row.statuses[status] ?? 0) + count;
    // The worst step.
    row.p99Ms = Math.max(row.p99Ms, seen.p99Ms);
    say(
      `${variant.name}: ${row.sent} sent, ${row.failed} failed, ${row.split} left their worker, p99 ${seen.p99Ms.toFixed(2)} ms`,
    );
  }
  const metrics = await metricsOf(stack.admin);
  row.placed = metrics.placed - before;
  row.resets = metrics.sum('smg_envoy_resets_received_total');
  row.goAways = metrics.sum('smg_envoy_goaways_sent_total');
  row.limits = metrics.each('smg_envoy_transport_limits_total');
  row.rssMiB = memory(stack.servicePid).rssMiB;
  row.envoy = await stack.counters('ext_proc');
  report.rows.push(row);
}

function problemsOf({ variant, sent, failed, split, placed, resets, limits, envoy }) {
  const counted = (end) =>
    Object.entries(envoy).reduce((sum, [name, value]) => (name.endsWith(end) ? sum + value : sum), 0);
  return [
    [failed > 0, `${failed} of ${sent} requests failed`],
    [split > 0, `${split} of ${sent} requests left their worker`],
    [placed !== sent, `${placed} of ${sent} requests were placed`],
    [counted('failure_mode_allowed') > 0, `${counted('failure_mode_allowed')} streams failed at Envoy`],
    [resets < sent, `${resets} resets came: the guard is still there`],
    [Object.keys(limits).length > 0, `limits of the transport were reached: ${JSON.stringify(limits)}`],
  ]
    .filter(([wrong]) => wrong)
    .map(([, what]) => `${variant}: ${what}`);
}
