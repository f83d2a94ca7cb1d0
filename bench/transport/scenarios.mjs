/** What is done to a service with each variant, round by round. Each answers one row of figures. */
import { metricsOf } from '../lib/metrics.mjs';
import { cpuMicros, memory } from '../lib/proc.mjs';
import { rounded } from '../lib/stats.mjs';
import { isLarge, isPlaced } from './variants.mjs';

export const SCENARIOS = {
  /** As many calls as some places on some connections get answered. */
  saturation: {
    rounds: (settings) => settings.rounds,
    run: (variant, stand, client, { seconds, connections, streams }) =>
      measured({ kind: 'closed', seconds, connections, streams }, variant, stand, client),
  },
  /** Calls at a fixed rate. */
  paced: {
    rounds: (settings) => settings.rounds,
    only: (variant) => !isLarge(variant),
    run: (variant, stand, client, { rate, seconds, connections }) =>
      measured({ kind: 'paced', rate, seconds, connections }, variant, stand, client),
  },
  /** The same at a rate that not every implementation holds. */
  fast: {
    rounds: (settings) => settings.rounds,
    only: (variant) => !isLarge(variant),
    run: (variant, stand, client, settings) =>
      measured(
        { kind: 'paced', rate: settings['fast-rate'], seconds: settings.seconds, connections: settings.connections },
        variant,
        stand,
        client,
      ),
  },
  /** Many streams that stay open when they have their answer, on a service that has done little before: memory of each. */
  idle: {
    rounds: () => 1,
    only: ({ name }) => name === 'header',
    fresh: true,
    async run(variant, stand, client, { open, connections }) {
      await ask(client, { kind: 'closed', seconds: 0.2, connections, streams: 1 }, variant, stand);
      const before = memory(stand.pid).rssMiB;
      const { answered, failed } = await ask(client, { kind: 'held', open, connections }, variant, stand);
      const openCalls = (await metricsOf(stand.admin)).sum('smg_envoy_open_calls');
      const during = memory(stand.pid).rssMiB;
      await client.ask({ kind: 'release', name: variant.name });
      return { answered, failed, openCalls, kibEach: rounded(((during - before) * 1024) / open), rssMiB: during };
    },
  },
};

/** Carries out an order; answers with what the service process took for each of its calls, too. */
export async function measured(order, variant, stand, client) {
  const before = await stateOf(stand);
  const seen = await ask(client, order, variant, stand);
  const after = await stateOf(stand);
  const { sent, failed, lost, seconds, rateHeld, reconnects, p50Ms, p99Ms, p999Ms, lateP99Ms } = seen;
  const figures = rateHeld
    ? { p50Ms, p99Ms, p999Ms, lateP99Ms, cpuMicros: (after.cpu - before.cpu) / sent }
    : { p50Ms: null, p99Ms: null, p999Ms: null, lateP99Ms: null, cpuMicros: null };
  if (order.kind === 'closed') figures.perSecond = sent / seconds;
  return {
    sent,
    failed: failed + lost,
    ...(isPlaced(variant) ? { placed: after.placed - before.placed } : {}),
    reconnects,
    rateHeld,
    rssMiB: after.rssMiB,
    collections: after.collections - before.collections,
    ...Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, rounded(value)])),
  };
}

function ask(client, order, variant, { address, name }) {
  return client.ask({ ...order, variant, address, name: `${variant.name} ${name}` });
}

async function stateOf({ pid, admin }) {
  const metrics = await metricsOf(admin);
  return {
    cpu: cpuMicros(pid),
    rssMiB: memory(pid).rssMiB,
    placed: metrics.placed,
    collections: metrics.sum('nodejs_gc_duration_seconds_count'),
  };
}
