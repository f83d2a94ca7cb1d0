/** One order at one stand, and what its processes and its Redis took for it. */
import { metricsOf } from '../lib/metrics.mjs';
import { cpuMicros, memory } from '../lib/proc.mjs';
import { rounded } from '../lib/stats.mjs';

/** Every known key meets every replica before anything is measured; the first turns are claims. */
export async function warmUp(stand, client, settings) {
  const count = settings.keys * (settings.connections + 1);
  await client.ask({
    ...orderOf(stand, settings),
    kind: 'closed',
    seconds: 60,
    places: settings.places,
    count,
    newPercent: 0,
  });
  const row = await measured(stand, client, {
    ...orderOf(stand, settings),
    ...closedOf(settings),
    seconds: settings['warm-up'],
  });
  return row.known.differing;
}

export const SCENARIOS = {
  /** As many requests as some places get answered. */
  saturation: (stand, client, settings) =>
    measured(stand, client, { ...orderOf(stand, settings), ...closedOf(settings) }),
  /** A rate that all shapes hold. */
  paced: (stand, client, settings) =>
    measured(stand, client, { ...orderOf(stand, settings), kind: 'paced', rate: settings.rate }),
};

function orderOf({ name, addresses }, { connections, keys, seconds, ...settings }) {
  const shared = { holdMs: settings['hold-ms'], newPercent: settings['new-percent'] };
  return { stand: name, name, addresses, connections, keys, seconds, ...shared };
}

function closedOf({ places }) {
  return { kind: 'closed', places };
}

/** Processor time without any request: milliseconds of each second, of all processes of a stand and of its Redis. */
export function idleCosts(stands, before, seconds) {
  return Object.fromEntries(
    stands.map((stand) => {
      const now = cpuOf(stand);
      const share = (name) => rounded((now[name] - before[stand.name][name]) / 1000 / seconds);
      return [stand.name, { serviceMs: share('services'), redisMs: share('redis') }];
    }),
  );
}

/** Microseconds of processor time so far. */
export function cpuOf({ services, redis }) {
  return {
    services: services.reduce((sum, { pid }) => sum + cpuMicros(pid), 0),
    redis: redis === null ? 0 : cpuMicros(redis.pid),
  };
}

async function measured(stand, client, order) {
  const before = await countsOf(stand);
  const cpuBefore = cpuOf(stand);
  const { sent, failed, seconds, rateHeld, kinds } = await client.ask(order);
  const cpu = cpuOf(stand);
  const after = await countsOf(stand);
  const sizes = stand.services.map(({ pid }) => memory(pid));
  const sizesOf = (name) => sizes.map((size) => size[name]);
  return {
    sent,
    failed,
    placed: after.placed - before.placed,
    rateHeld,
    perSecond: order.kind === 'closed' ? rounded(sent / seconds) : null,
    serviceMicros: rateHeld ? rounded((cpu.services - cpuBefore.services) / sent) : null,
    redisMicros: rateHeld ? rounded((cpu.redis - cpuBefore.redis) / sent) : null,
    ...Object.fromEntries(Object.entries(kinds).map(([kind, row]) => [kind, kindOf(row, rateHeld)])),
    alone: after.alone - before.alone,
    left: after.inFlight,
    messages: Math.round((after.messages - before.messages) / seconds),
    rssMiB: Math.max(...sizesOf('rssMiB')),
    pssMiB: rounded(sizesOf('pssMiB').reduce((sum, size) => sum + size, 0)),
  };
}

function kindOf({ answered, differing, p50Ms, p99Ms }, rateHeld) {
  return { answered, differing, p50Ms: rateHeld ? rounded(p50Ms) : null, p99Ms: rateHeld ? rounded(p99Ms) : null };
}

/** Sums over the processes of a stand. */
async function countsOf({ services }) {
  const all = await Promise.all(services.map(({ admin }) => metricsOf(admin)));
  const sum = (name, labels) => all.reduce((total, metrics) => total + metrics.sum(name, labels), 0);
  return {
    placed: all.reduce((total, metrics) => total + metrics.placed, 0),
    alone:
      sum('smg_envoy_pin_store_asks_total', 'result="late"') + sum('smg_envoy_pin_store_asks_total', 'result="failed"'),
    inFlight: sum('smg_envoy_picks_in_flight'),
    messages: sum('smg_envoy_replica_load_messages_total', 'event="received"'),
  };
}
