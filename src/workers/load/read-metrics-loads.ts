import type { LoadReport } from '../engine-load.ts';
import { loadReport } from './load-report.ts';
import { readSeries, type Series } from './prometheus-text.ts';

/** Where an engine's exposition tells what (policies 3.2); null: nowhere. */
interface Mapping {
  /** Share of the KV cache in use, the first one found. Without any there is no report. */
  readonly tokenUsage: readonly string[];
  readonly running: string;
  readonly waiting: string;
  readonly genThroughput: string | null;
  readonly cacheHitRate: string | null;
  readonly utilization: string | null;
}

const VLLM: Mapping = {
  tokenUsage: ['vllm:gpu_cache_usage_perc', 'vllm:kv_cache_usage_perc'],
  running: 'vllm:num_requests_running',
  waiting: 'vllm:num_requests_waiting',
  genThroughput: null,
  cacheHitRate: 'vllm:gpu_prefix_cache_hit_rate',
  utilization: null,
};

const sglang = (prefix: string): Mapping => ({
  tokenUsage: [`${prefix}token_usage`],
  running: `${prefix}num_running_reqs`,
  waiting: `${prefix}num_queue_reqs`,
  genThroughput: `${prefix}gen_throughput`,
  cacheHitRate: `${prefix}cache_hit_rate`,
  utilization: `${prefix}utilization`,
});

const MAPPINGS: readonly Mapping[] = [VLLM, sglang('sglang:'), sglang('sglang_')];

const NAMES: ReadonlySet<string> = new Set(
  MAPPINGS.flatMap(({ tokenUsage, ...others }) => [
    ...tokenUsage,
    ...Object.values(others).filter((name) => name !== null),
  ]),
);

/**
 * Reads an engine's Prometheus exposition as a report of one rank. Requests are summed over the series of a metric and cut
 * to whole numbers, all else is their mean, throughput too (as SMG 1.11.0). Null when it tells no usage of a KV cache.
 * Never throws.
 *
 * @param at milliseconds, monotonic
 */
export function readMetricsLoads(text: string, at: number): LoadReport | null {
  const series = readSeries(text, NAMES);
  for (const mapping of MAPPINGS) {
    const usage = firstOf(series, mapping.tokenUsage);
    if (usage === undefined) continue;
    const rank = {
      runningRequests: whole(series.get(mapping.running)),
      waitingRequests: whole(series.get(mapping.waiting)),
      tokenUsage: mean(usage),
      genThroughput: mean(named(series, mapping.genThroughput)),
      cacheHitRate: mean(named(series, mapping.cacheHitRate)),
      utilization: mean(named(series, mapping.utilization)),
    };
    return loadReport([rank], at);
  }
  return null;
}

function firstOf(series: ReadonlyMap<string, Series>, names: readonly string[]): Series | undefined {
  for (const name of names) {
    const found = series.get(name);
    if (found !== undefined) return found;
  }
  return undefined;
}

function named(series: ReadonlyMap<string, Series>, name: string | null): Series | undefined {
  return name === null ? undefined : series.get(name);
}

function whole(series: Series | undefined): number {
  return series === undefined ? 0 : Math.trunc(series.sum);
}

function mean(series: Series | undefined): number {
  return series === undefined ? 0 : series.sum / series.count;
}
