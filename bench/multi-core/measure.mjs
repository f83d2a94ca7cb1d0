/** The load on one stand, and what its processes and its Redis took for it. */
import { setTimeout as pause } from 'node:timers/promises';
import { metricsOf } from '../lib/metrics.mjs';
import { cpuMicros, memory } from '../lib/proc.mjs';
import { rounded } from '../lib/stats.mjs';

/**
 * What is done with one stand, one after the other; the first two have no row. A process visits the pins that it used every
 * 10 s, so the rate lasts that long before it is measured, and while it is.
 */
const STEPS = [
  // Every known key meets every process.
  { kind: 'closed', seconds: () => 120, count: ({ keys }, { services }) => keys * services.length, newPercent: 0 },
  { kind: 'paced', seconds: (settings) => settings.seconds },
  { name: 'paced', kind: 'paced', seconds: (settings) => settings.seconds },
  { name: 'saturation', kind: 'closed', seconds: (settings) => settings.seconds },
];

/** Rows by the name of a scenario, and `idle`; `told(name, row)` is called with each. */
export async function play(stand, settings, told) {
  const rows = { idle: await idleCosts(stand, settings['idle-seconds']) };
  told('idle', rows.idle);
  for (const { name, kind, seconds, count, newPercent } of STEPS) {
    const order = {
      ...{ stand: stand.name, name: stand.name, addresses: stand.addresses, kind },
      ...{ connections: settings.connections, keys: settings.keys, places: settings.places, rate: settings.rate },
      seconds: seconds(settings),
      count: count?.(settings, stand),
      newPercent: newPercent ?? settings['new-percent'],
      holdMs: settings['hold-ms'],
    };
    const row = await measured(stand, order);
    if (name === undefined) continue;
    rows[name] = row;
    told(name, row);
  }
  return rows;
}

/** Milliseconds of processor time in a second without any request, of all processes of a stand and of its Redis. */
async function idleCosts(stand, seconds) {
  const before = cpuOf(stand);
  const started = performance.now();
  await pause(seconds * 1000);
  const took = performance.now() - started;
  const now = cpuOf(stand);
  return {
    serviceMs: rounded((now.services - before.services) / took),
    redisMs: rounded((now.redis - before.redis) / took),
  };
}

/** Microseconds of processor time so far. */
function cpuOf({ services, redis }) {
  return {
    services: services.reduce((sum, { pid }) => sum + cpuMicros(pid), 0),
    redis: redis === null ? 0 : cpuMicros(redis.pid),
  };
}

async function measured(stand, order) {
  const before = await countsOf(stand);
  const cpuBefore = cpuOf(stand);
  const { sent, failed, seconds, rateHeld, kinds } = await stand.client.ask(order);
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
    visits: rounded((after.visits - before.visits) / sent),
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
    visits: sum('smg_envoy_pin_store_syncs_total', 'result="refreshed"'),
    messages: sum('smg_envoy_replica_load_messages_total', 'event="received"'),
  };
}
