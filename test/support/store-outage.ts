import { setTimeout as pause } from 'node:timers/promises';
import { KeyLoad } from './key-load.ts';
import type { Replicas } from './replicas.ts';
import type { Replies } from './replies.ts';
import { until } from './until.ts';

/** What happened around the time in which something was wrong with the shared store. */
export interface Outage {
  /** All replies, from before until after. */
  readonly replies: Replies;
  /** Those that were due while it was wrong. */
  readonly during: Replies;
  /** Conversations that every replica knew before it, and those that began when everything was well again. */
  readonly safe: Replies;
  /** Counts of `smg_envoy_pin_store_asks_total` while it was wrong, by result. */
  readonly asks: Readonly<Record<string, number>>;
  /** Longest wait of a request for the store, as the replicas counted it: upper end of the bucket, in milliseconds. */
  readonly longestAskMs: number;
  /** From the end of the harm until every replica says that all is well and has nothing left to tell. */
  readonly healedMs: number;
}

export interface Harm {
  /** Called under load; resolves when it is done. */
  readonly begin: () => Promise<void> | void;
  readonly end: () => Promise<void> | void;
  /** How long it is wrong, 700 ms when unset. */
  readonly ms?: number;
  /** What the replicas are to say of the store meanwhile; not waited for when unset. */
  readonly state?: 'slow' | 'down';
}

const RATE = 120;
const ASKS = 'smg_envoy_pin_store_asks_total';
const ASK_BUCKETS = 'smg_envoy_pin_store_ask_seconds_bucket';
const RESULTS = ['won', 'followed', 'late', 'failed', 'behind'] as const;

let runs = 0;

/** Plays conversations while something is wrong with the store, and after. */
export async function outage(stand: Replicas, { begin, end, ms = 700, state }: Harm): Promise<Outage> {
  const load = await KeyLoad.start({
    ...{ url: stand.url, perSecond: RATE, known: 20, turns: 4, apart: 0.2 },
    ...{ place: 'header' as const, prefix: `o${runs++}` },
  });
  try {
    await pause(300);
    const asksBefore = await asksOf(stand);
    const waitsBefore = await waitsOf(stand);
    const from = performance.now();
    await begin();
    if (state !== undefined) await until(() => inState(stand, state), `every replica says that the store is ${state}`);
    await pause(ms);
    const asks = await asksOf(stand);
    await end();
    const endedAt = performance.now();
    await until(async () => (await inState(stand, 'up')) && (await settled(stand)), 'every replica is well again');
    const wellAt = performance.now();
    await pause(400);
    const replies = await load.stop();
    const during = replies.between(from, wellAt);
    const young = new Set(
      replies
        .between(0, wellAt)
        .of('first')
        .all.map(({ key }) => key),
    );
    return {
      replies,
      during,
      safe: replies.where(({ key }) => !young.has(key)),
      asks: Object.fromEntries(RESULTS.map((result) => [result, (asks[result] ?? 0) - (asksBefore[result] ?? 0)])),
      longestAskMs: longestBetween(waitsBefore, await waitsOf(stand)),
      healedMs: wellAt - endedAt,
    };
  } finally {
    await load.stop();
  }
}

async function inState(stand: Replicas, state: string): Promise<boolean> {
  return (await stand.sum('smg_envoy_pin_store_state', { state })) === stand.services.length;
}

async function settled(stand: Replicas): Promise<boolean> {
  return (await stand.sum('smg_envoy_pins_provisional')) === 0;
}

async function asksOf(stand: Replicas): Promise<Readonly<Record<string, number>>> {
  const counts = await Promise.all(RESULTS.map(async (result) => [result, await stand.sum(ASKS, { result })] as const));
  return Object.fromEntries(counts);
}

/** Waits of requests so far, over all replicas, by the upper bound of their bucket in seconds. */
async function waitsOf(stand: Replicas): Promise<ReadonlyMap<number, number>> {
  const waits = new Map<number, number>();
  for (const service of stand.services) {
    for (const { name, labels, value } of (await service.metrics()).samples) {
      if (name !== ASK_BUCKETS) continue;
      const bound = labels['le'] === '+Inf' ? Number.POSITIVE_INFINITY : Number(labels['le']);
      waits.set(bound, (waits.get(bound) ?? 0) + value);
    }
  }
  return waits;
}

/** Upper bound of the bucket that all waits in between lie below, in milliseconds. */
function longestBetween(before: ReadonlyMap<number, number>, after: ReadonlyMap<number, number>): number {
  const grown = (bound: number): number => (after.get(bound) ?? 0) - (before.get(bound) ?? 0);
  const all = grown(Number.POSITIVE_INFINITY);
  const bounds = [...after.keys()].filter((bound) => grown(bound) === all);
  return all === 0 ? 0 : Math.min(...bounds) * 1000;
}
