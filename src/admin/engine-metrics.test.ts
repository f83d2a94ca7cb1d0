import { beforeEach, describe, expect, it } from 'vitest';
import { makeSnapshot, makeWorker } from '../../test/support/fleet.ts';
import { parseExposition } from '../../test/support/parse-exposition.ts';
import { A, B, setUpRegistry } from '../../test/support/registry-bench.ts';
import { createMetrics, renderMetrics } from '../telemetry/metrics.ts';
import { loadReport } from '../workers/load/load-report.ts';
import { bindEngineMetrics } from './engine-metrics.ts';

describe('policies 8.2 gauges of the engines', () => {
  let metrics = createMetrics();
  let bench = setUpRegistry();
  let now = 0;

  const samples = (name: string) =>
    parseExposition(renderMetrics(metrics))
      .samples.filter((sample) => sample.name === name)
      .map(({ labels, value }) => [...Object.values(labels), value]);
  const report = (id: string, ...ranks: Parameters<typeof loadReport>[0]) =>
    bench.instance(id).engine.received(loadReport(ranks, now));

  beforeEach(() => {
    now = 1_000;
    metrics = createMetrics();
    bench = setUpRegistry();
    bindEngineMetrics(metrics, bench.registry, () => now);
    bench.ready(A, B);
  });

  it('have one series for each worker, model and rank', () => {
    bench.registry.modelsAnswered(bench.instance(A), ['m']);
    report(A, { rank: 0, runningRequests: 3, waitingRequests: 7 }, { rank: 1, runningRequests: 4 });
    report(B, { tokenUsage: 0.5, genThroughput: 12, cacheHitRate: 0.25 });

    expect(samples('smg_engine_running_requests')).toEqual([
      [A, 'm', '0', 3],
      [A, 'm', '1', 4],
      [B, 'unknown', '0', 0],
    ]);
    expect(samples('smg_engine_waiting_requests')[0]).toEqual([A, 'm', '0', 7]);
    expect(samples('smg_engine_token_usage')[2]).toEqual([B, 'unknown', '0', 0.5]);
    expect(samples('smg_engine_gen_throughput')[2]).toEqual([B, 'unknown', '0', 12]);
    expect(samples('smg_engine_cache_hit_rate')[2]).toEqual([B, 'unknown', '0', 0.25]);
  });

  it('are absent before the first report, and -1 when none is in force any more', () => {
    expect(samples('smg_engine_token_usage')).toEqual([]);
    report(A, { tokenUsage: 0.5 });
    report(B, { tokenUsage: 0.6 });
    expect(samples('smg_engine_token_usage')).toHaveLength(2);

    bench.instance(A).engine.expired();
    bench.registry.remove(B);

    expect(samples('smg_engine_token_usage')).toEqual([
      [A, 'unknown', '0', -1],
      [B, 'unknown', '0', -1],
    ]);
    report(A, { tokenUsage: 0.7 });
    expect(samples('smg_engine_token_usage')[0]).toEqual([A, 'unknown', '0', 0.7]);
  });

  it('keep the last report while single polls fail', () => {
    report(A, { tokenUsage: 0.5 });
    bench.instance(A).engine.missed();

    expect(samples('smg_engine_token_usage')).toEqual([[A, 'unknown', '0', 0.5]]);
  });

  it('tell transfers by role, and only what the engine tells', () => {
    const rest = { kvSpeedGbPerSecond: null, prefillQueueRequests: 3, decodeQueueRequests: 0 };
    report(A, { rank: 2, transfer: { role: 'prefill', kvLatencyMs: 5.5, ...rest } });
    report(B, {});

    expect(samples('smg_engine_pd_kv_transfer_latency_ms')).toEqual([[A, 'prefill', '2', 5.5]]);
    expect(samples('smg_engine_pd_kv_transfer_speed_gb_s')).toEqual([]);
    expect(samples('smg_engine_pd_prefill_queue_reqs')).toEqual([[A, 'prefill', '2', 3]]);
    expect(samples('smg_engine_pd_decode_queue_reqs')).toEqual([[A, 'prefill', '2', 0]]);
  });

  it('R23: tell the age of the last report', () => {
    report(A, {});
    now += 2_500;

    expect(samples('smg_envoy_load_report_age_seconds')).toEqual([[A, 2.5]]);

    bench.instance(A).engine.expired();
    expect(samples('smg_envoy_load_report_age_seconds')).toEqual([[A, -1]]);
  });

  it('forget the oldest of many workers that came and went', () => {
    const current = loadReport([{}], now);
    const engine = { current, recent: current, reports: 1 };
    const workers = Array.from({ length: 1_100 }, (_, n) => makeWorker(`http://w${n}:8000`, { engine }));
    const fleet = { current: makeSnapshot(workers), settled: true, subscribe: () => () => {} };
    bindEngineMetrics(metrics, fleet, () => now);
    expect(samples('smg_engine_token_usage')).toHaveLength(1_100);

    fleet.current = makeSnapshot([]);

    expect(samples('smg_engine_token_usage')).toHaveLength(1_024);
  });
});
