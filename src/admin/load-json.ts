import type { LoadReport, RankLoad } from '../workers/engine-load.ts';
import type { OverloadRule } from '../workers/load/overload.ts';
import type { Worker } from '../workers/worker.ts';

/** The last poll's report of a worker, in SMG's shape; null when that poll brought none. */
export function engineLoadJson({ current }: Worker['engine']) {
  if (current === null) return null;
  return {
    timestamp: wallTime(current),
    version: '',
    dp_rank_count: current.ranks.length,
    loads: current.ranks.map(rankJson),
  };
}

/** Answer of `GET /get_loads`: the last poll's reports of all workers, as SMG 1.11.0 shows them. */
export function loadsJson(workers: readonly Worker[], version: string, now: Date) {
  const loads = workers.flatMap((worker) => (worker.engine.current?.ranks ?? []).map((rank) => ({ worker, rank })));
  const sum = (of: (rank: RankLoad) => number): number => loads.reduce((total, { rank }) => total + of(rank), 0);
  const mean = (of: (rank: RankLoad) => number): number => (loads.length === 0 ? 0 : sum(of) / loads.length);
  const running = sum((rank) => rank.runningRequests);
  const waiting = sum((rank) => rank.waitingRequests);
  return {
    timestamp: now.toISOString(),
    version: `smg-envoy-${version}`,
    dp_rank_count: loads.length,
    loads: loads.map(({ worker, rank }) => ({ worker: worker.id, worker_type: worker.type, ...rankJson(rank) })),
    aggregate: {
      total_running_reqs: running,
      total_waiting_reqs: waiting,
      total_reqs: running + waiting,
      avg_token_usage: mean((rank) => rank.tokenUsage),
      avg_throughput: mean((rank) => rank.genThroughput),
      avg_utilization: mean((rank) => rank.utilization),
    },
  };
}

/** A worker's own bounds, as they are declared; null without any. */
export function overloadJson({ waitingRequests, tokenUsage }: OverloadRule) {
  if (waitingRequests === null && tokenUsage === null) return null;
  return { waiting_requests: waitingRequests, token_usage: tokenUsage };
}

function rankJson(rank: RankLoad) {
  return {
    dp_rank: rank.rank,
    num_running_reqs: rank.runningRequests,
    num_waiting_reqs: rank.waitingRequests,
    num_waiting_uncached_tokens: rank.waitingUncachedTokens,
    num_total_reqs: rank.totalRequests,
    num_used_tokens: rank.usedTokens,
    max_total_num_tokens: rank.maxTokens,
    token_usage: rank.tokenUsage,
    gen_throughput: rank.genThroughput,
    cache_hit_rate: rank.cacheHitRate,
    utilization: rank.utilization,
    max_running_requests: rank.maxRunningRequests,
    ...(rank.transfer === null
      ? {}
      : {
          disagg_mode: rank.transfer.role,
          kv_transfer_latency_ms: rank.transfer.kvLatencyMs,
          kv_transfer_speed_gb_s: rank.transfer.kvSpeedGbPerSecond,
          prefill_queue_reqs: rank.transfer.prefillQueueRequests,
          decode_queue_reqs: rank.transfer.decodeQueueRequests,
        }),
  };
}

/** The service's clock counts from the start of its process. */
function wallTime({ at }: LoadReport): string {
  return new Date(performance.timeOrigin + at).toISOString();
}
