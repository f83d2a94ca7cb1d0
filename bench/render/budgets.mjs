import { pointsOf } from './affinity.mjs';
import { figure, table } from './format.mjs';
import { slowest } from './policies.mjs';
import { fileLink } from './sources.mjs';

/** What was promised, and what was measured. A kind that was not measured has no rows. */
export function budgets(results) {
  const rows = [
    ...insideRows(results.micro),
    ...throughEnvoyRows(results['end-to-end']),
    ...affinityRows(results.affinity),
    ...transportRows(results.transport),
    ...heldRows(results.held),
    ...soakRows(results.soak),
  ];
  return table(
    ['what', 'budget', 'measured', 'met', 'from'],
    rows.map(([what, budget, value, met, result]) => [
      what,
      budget,
      value,
      met ? 'yes' : '**no**',
      fileLink(result, result.kind),
    ]),
  );
}

/** `[what, budget, value, most, unit]` as a row; a value is met up to the most. */
function upTo(result) {
  return ([what, budget, value, most, unit]) => [what, budget, figure(value, unit), value <= most, result];
}

function insideRows(micro) {
  const decision = (name) => micro.decisions.find((row) => row.name === name);
  const pins = micro.pins.at(-1);
  const header = decision('headers, known pin');
  const rows = [
    ['decision from headers', 'at most 20 µs', header.micros, 20, 'µs'],
    ['decision from headers that makes a pin', 'at most 20 µs', decision('headers, new pin').micros, 20, 'µs'],
    ['memory allocated by a decision from headers', 'at most 2 KB', header.bytes, 2048, 'bytes'],
    ['decision from a 220 KB body', 'at most 300 µs', decision('220 KB body, known pin').micros, 300, 'µs'],
    [`a pin beside its key, at ${figure(pins.pins)} pins`, 'at most 150 bytes', pins.bytesPerPin, 150, 'bytes'],
    ['idle process, resident', 'at most 80 MB', micro.process.rssMiB, 80, 'MB'],
    ['start to ready line', 'at most 1 s', micro.process.readyMs / 1000, 1, 's'],
  ];
  if (micro.paced !== undefined) {
    const { name, workers, micros } = slowest(micro);
    const what = `whole decision with ${figure(workers)} workers, the slowest policy (${name})`;
    rows.push([what, 'at most 50 µs', micros, 50, 'µs']);
    const missed = Math.max(...micro.paced.map(({ perSecond }) => 1 - perSecond / micro.settings.rate));
    rows.push([`missed of ${figure(micro.settings.rate)} decisions a second`, 'at most 1 %', missed * 100, 1, '%']);
  }
  const prompt = micro.prompts?.find(
    ({ kind, size, workers }) => kind === 'text tree' && size === '32 KB' && workers === 8,
  );
  if (prompt !== undefined)
    rows.push(['p99 of cache_aware with 32 KB, inside', 'below 1 ms', prompt.p99 / 1000, 1, 'ms']);
  return rows.map(upTo(micro));
}

function throughEnvoyRows(endToEnd) {
  const latency = endToEnd.scenarios.latency.summary;
  const cpu = Math.max(latency['header-1k'].serviceCpuMs, latency['rid-1k'].serviceCpuMs);
  return [
    ['added p99 with a header key', 'below 3 ms', latency['header-1k'].p99MsAdded, 3, 'ms'],
    ['processor time of the service for a request of 1 KB', 'below 2 ms', cpu, 2, 'ms'],
  ].map(upTo(endToEnd));
}

function affinityRows(affinity) {
  if (affinity === undefined) return [];
  const rows = [];
  const points = pointsOf(affinity).flatMap((row) => row.points ?? []);
  const behind = Math.max(0, ...points.map((each) => -each));
  if (points.length > 0)
    rows.push(['prompts that SMG keeps together and we do not', 'at most 1 point', behind, 1, 'points']);
  const p99 = Math.max(...affinity.decisions.map(({ p99Ms }) => p99Ms));
  const bytes = `${figure(affinity.settings.bytes / 1024)} KB`;
  rows.push([`p99 of cache_aware with ${bytes}, beside Envoy, client and workers`, 'below 1 ms', p99, 1, 'ms']);
  return rows.map(upTo(affinity));
}

/** Judged by the benchmark itself. */
function transportRows(transport) {
  return (transport?.verdicts ?? []).map(({ what, budget, ratio, met }) => [
    `${what}, without an Envoy`,
    budget,
    figure(ratio),
    met,
    transport,
  ]);
}

function heldRows(held) {
  if (held === undefined) return [];
  const most = held.settings['most-mib'];
  const largest = held.rows.reduce((a, b) => (a.serviceMiB >= b.serviceMiB ? a : b));
  const what = `service with ${figure(largest.open)} answers open (${largest.title})`;
  return [[what, `at most ${most} MB`, largest.serviceMiB, most, 'MB']].map(upTo(held));
}

function soakRows(soak) {
  if (soak === undefined) return [];
  const { 'most-growth-percent': growth, 'most-lag-ms': lag, minutes } = soak.settings;
  const { rssGrowthPercent, lagP99Ms, failed } = soak.judged;
  const long = figure(minutes, 'minutes');
  const rows = [
    [
      `growth of the service's memory over ${long}, last quarter to the second`,
      `at most ${growth} %`,
      rssGrowthPercent,
      growth,
      '%',
    ],
    [`event loop late over ${long}, p99 of the worst sample`, `at most ${lag} ms`, lagP99Ms, lag, 'ms'],
    [`failed requests over ${long}`, 'none', failed, 0, ''],
  ];
  return rows.filter(([, , value]) => value !== null).map(upTo(soak));
}
