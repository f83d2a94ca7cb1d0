/** What is done to each variant, round by round. Each answers one row of figures. */
import { setTimeout as pause } from 'node:timers/promises';
import { metricsOf } from '../lib/metrics.mjs';
import { cpuMicros, memory } from '../lib/proc.mjs';
import { rounded } from '../lib/stats.mjs';
import { isHuge, isLarge } from './variants.mjs';

/** Conversations of a variant: many more than requests of it in flight. */
const KEYS = 500;

export const SCENARIOS = {
  /** Requests at a fixed rate: latency, and processor time of a request. */
  latency: {
    rounds: (settings) => settings.rounds,
    async run(variant, stack, client, settings) {
      const large = isHuge(variant) ? settings['huge-rate'] : settings['large-rate'];
      const rate = isLarge(variant) ? large : settings.rate;
      const order = { kind: 'paced', rate, seconds: settings.seconds, connections: 64 };
      const { seen, cpu } = await measured(order, variant, stack, client);
      const { p50Ms, p90Ms, p99Ms, maxMs, lateP99Ms } = seen;
      return { ...counts(seen), ...figures({ p50Ms, p90Ms, p99Ms, maxMs, lateP99Ms, ...cpu }) };
    },
  },
  /** As many requests as some connections get answered. */
  capacity: {
    rounds: (settings) => Math.max(1, Math.ceil(settings.rounds / 2)),
    async run(variant, stack, client, settings) {
      const order = { kind: 'closed', seconds: settings['closed-seconds'], connections: settings.connections };
      const { seen, cpu } = await measured(order, variant, stack, client);
      const { p50Ms, p99Ms } = seen;
      return { ...counts(seen), ...figures({ perSecond: seen.sent / seen.seconds, p50Ms, p99Ms, ...cpu }) };
    },
  },
  /** The same with long bodies and answers in events, as generations are. */
  streamed: {
    rounds: (settings) => Math.max(1, Math.ceil(settings.rounds / 2)),
    only: (variant) => isLarge(variant) && !isHuge(variant),
    async run(variant, stack, client, settings) {
      const { events, clients: connections } = settings;
      const order = { kind: 'closed', seconds: settings['closed-seconds'], connections, events };
      const { seen, cpu } = await measured(order, variant, stack, client);
      const { p50Ms, p99Ms } = seen;
      return { ...counts(seen), ...figures({ perSecond: seen.sent / seen.seconds, p50Ms, p99Ms, ...cpu }) };
    },
  },
  /** Many requests that wait for their worker at once: memory of each. */
  held: {
    rounds: () => 1,
    only: (variant) => !isLarge(variant) && variant.smg === undefined,
    async run(variant, stack, client, settings) {
      const before = memoryOf(stack);
      const open = settings.held;
      const order = { kind: 'held', connections: open, holdMs: settings['hold-ms'] };
      const answer = client.ask({ ...requestsOf(variant, stack), ...order, keys: open });
      // Late enough for all to have been placed, early enough for none to have ended.
      const sampled = pause(settings['hold-ms'] * 0.8).then(() => memoryOf(stack));
      const [seen, during] = await Promise.all([answer, sampled]);
      const kibEach = (of) => (during[of] === null ? null : ((during[of].rssMiB - before[of].rssMiB) * 1024) / open);
      return {
        ...counts(seen),
        open,
        ...figures({ serviceKiBEach: kibEach('service'), envoyKiBEach: kibEach('envoy') }),
      };
    },
  },
};

/** Requests that the service of a stack has placed so far, by its own count; null for plain Envoy and for SMG. */
export async function placedBy({ admin }) {
  return admin === null ? null : (await metricsOf(admin)).placed;
}

export function memoryOf({ envoyPid, servicePid }) {
  return {
    envoy: envoyPid === null ? null : memory(envoyPid),
    service: servicePid === null ? null : memory(servicePid),
  };
}

/** Carries out an order; answers with the processor time that Envoy and the service took for each of its requests, too. */
export async function measured(order, variant, stack, client) {
  const before = cpuOf(stack);
  const seen = await client.ask({ ...requestsOf(variant, stack), ...order });
  const after = cpuOf(stack);
  const each = (of) => (after[of] === null ? null : (after[of] - before[of]) / 1000 / seen.sent);
  const [envoyCpuMs, serviceCpuMs] = [each('envoy'), each('service')];
  return { seen, cpu: { envoyCpuMs, serviceCpuMs, pathCpuMs: (envoyCpuMs ?? 0) + (serviceCpuMs ?? 0) } };
}

function requestsOf({ name, key, bodyBytes }, { port }) {
  return { name, key, bodyBytes, port, keys: KEYS };
}

function cpuOf({ envoyPid, servicePid }) {
  return {
    envoy: envoyPid === null ? null : cpuMicros(envoyPid),
    service: servicePid === null ? null : cpuMicros(servicePid),
  };
}

function counts({ sent, failed, split }) {
  return { sent, failed, split };
}

function figures(values) {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, rounded(value)]));
}
