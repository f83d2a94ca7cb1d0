import type { LoadReport, RankLoad, TransferLoad } from '../engine-load.ts';
import { MAX_RANKS } from '../worker-url.ts';
import { loadReport } from './load-report.ts';

/** `foreign`: an answer of another shape, so that the route is none for load; `empty`: the shape, but no rank in it. */
export type JsonLoads = LoadReport | 'foreign' | 'empty';

/**
 * Reads what `/loads` and `/v1/loads` answer (policies 3.3). As SMG 1.11.0 does: a member that is missing reads 0, one of
 * a wrong type makes the whole answer foreign; so do more ranks than an engine can have, which would become as many metric
 * series. Never throws.
 *
 * @param at milliseconds, monotonic
 */
export function readJsonLoads(text: string, at: number): JsonLoads {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    return 'foreign';
  }
  if (!isObject(answer)) return 'foreign';
  const { loads = [] } = answer;
  if (!Array.isArray(loads) || loads.length > MAX_RANKS) return 'foreign';
  const ranks: RankLoad[] = [];
  for (const load of loads as readonly unknown[]) {
    const rank = isObject(load) ? readRank(load) : null;
    if (rank === null) return 'foreign';
    ranks.push(rank);
  }
  return ranks.length === 0 ? 'empty' : loadReport(ranks, at);
}

type Members = Readonly<Record<string, unknown>>;

function readRank(load: Members): RankLoad | null {
  const members = new Reader(load);
  const rank: RankLoad = {
    rank: members.count('dp_rank'),
    runningRequests: members.count('num_running_reqs'),
    waitingRequests: members.count('num_waiting_reqs'),
    waitingUncachedTokens: members.count('num_waiting_uncached_tokens'),
    totalRequests: members.count('num_total_reqs'),
    usedTokens: members.count('num_used_tokens'),
    maxTokens: members.count('max_total_num_tokens'),
    tokenUsage: members.amount('token_usage'),
    genThroughput: members.amount('gen_throughput'),
    cacheHitRate: members.amount('cache_hit_rate'),
    utilization: members.amount('utilization'),
    maxRunningRequests: members.count('max_running_requests'),
    transfer: readTransfer(load, members),
  };
  return members.foreign ? null : rank;
}

function readTransfer(load: Members, members: Reader): TransferLoad | null {
  const transfer: TransferLoad = {
    role: roleOf(load['disagg_mode']),
    kvLatencyMs: members.optional('kv_transfer_latency_ms'),
    kvSpeedGbPerSecond: members.optional('kv_transfer_speed_gb_s'),
    prefillQueueRequests: members.optional('prefill_queue_reqs'),
    decodeQueueRequests: members.optional('decode_queue_reqs'),
  };
  const { kvLatencyMs, kvSpeedGbPerSecond, prefillQueueRequests, decodeQueueRequests } = transfer;
  const tells = [kvLatencyMs, kvSpeedGbPerSecond, prefillQueueRequests, decodeQueueRequests].some((v) => v !== null);
  return tells || transfer.role !== 'null' ? transfer : null;
}

function roleOf(mode: unknown): TransferLoad['role'] {
  return mode === 'prefill' || mode === 'decode' ? mode : 'null';
}

/** Reads members as numbers, and remembers whether any was of a wrong type. */
class Reader {
  foreign = false;
  readonly #load: Members;

  constructor(load: Members) {
    this.#load = load;
  }

  count(name: string): number {
    const value = this.amount(name);
    if (!Number.isSafeInteger(value)) this.foreign = true;
    return value;
  }

  amount(name: string): number {
    const { [name]: value = 0 } = this.#load;
    // Beyond any load, so that sums stay finite.
    if (typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER) return value;
    this.foreign = true;
    return 0;
  }

  optional(name: string): number | null {
    const value = this.#load[name];
    return value === undefined || value === null ? null : this.amount(name);
  }
}

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
