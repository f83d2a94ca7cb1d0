import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AdminBench } from '../../test/support/admin-bench.ts';
import { loadReport } from '../workers/load/load-report.ts';

const A = 'http://10.0.0.1:8000';
const B = 'http://10.0.0.2:8000';

describe('interface 9 load of the engines', () => {
  const bench = new AdminBench();

  beforeEach(async () => {
    await bench.open();
  });

  afterEach(async () => {
    for (const { id } of bench.registry.current.workers) bench.registry.remove(id);
    await bench.close();
  });

  const report = (url: string, ...ranks: Parameters<typeof loadReport>[0]) =>
    bench.registry.instance(url)!.engine.received(loadReport(ranks, performance.now()));

  it('GET /get_loads shows the last reports and their sums, as SMG 1.11.0 does', async () => {
    bench.addReady(A);
    bench.addReady(B);
    report(A, { rank: 0, runningRequests: 3, waitingRequests: 7, tokenUsage: 0.05, genThroughput: 11.5 });
    report(
      B,
      { rank: 0, runningRequests: 1, tokenUsage: 0.35, utilization: 0.6 },
      {
        rank: 1,
        waitingRequests: 2,
        tokenUsage: 0.8,
        transfer: {
          role: 'prefill',
          kvLatencyMs: 5.5,
          kvSpeedGbPerSecond: null,
          prefillQueueRequests: 3,
          decodeQueueRequests: null,
        },
      },
    );

    const { status, json } = await bench.ask('GET', '/get_loads');

    expect(status).toBe(200);
    expect(json).toMatchObject({ version: 'smg-envoy-1.2.3', dp_rank_count: 3 });
    expect(Date.parse(json.timestamp)).not.toBeNaN();
    expect(json.loads[0]).toEqual({
      worker: A,
      worker_type: 'regular',
      dp_rank: 0,
      num_running_reqs: 3,
      num_waiting_reqs: 7,
      num_waiting_uncached_tokens: 0,
      num_total_reqs: 0,
      num_used_tokens: 0,
      max_total_num_tokens: 0,
      token_usage: 0.05,
      gen_throughput: 11.5,
      cache_hit_rate: 0,
      utilization: 0,
      max_running_requests: 0,
    });
    expect(json.loads[2]).toMatchObject({ worker: B, dp_rank: 1, disagg_mode: 'prefill', kv_transfer_latency_ms: 5.5 });
    expect(json.aggregate).toEqual({
      total_running_reqs: 4,
      total_waiting_reqs: 9,
      total_reqs: 13,
      avg_token_usage: expect.closeTo(0.4, 12),
      avg_throughput: expect.closeTo(11.5 / 3, 12),
      avg_utilization: expect.closeTo(0.2, 12),
    });
  });

  it('GET /get_loads shows zeros when nobody reports', async () => {
    bench.addReady(A);

    const { json } = await bench.ask('GET', '/get_loads');

    expect(json).toMatchObject({ dp_rank_count: 0, loads: [], aggregate: { total_reqs: 0, avg_token_usage: 0 } });
  });

  it('GET /workers shows the report, the veto and what the worker declares', async () => {
    bench.addReady(A, { overload: { waiting_requests: 5 }, load_monitor_interval_secs: 2 });
    bench.addReady(B);
    report(A, { waitingRequests: 7 });
    bench.registry.overloadJudged(new Map([[bench.registry.instance(A)!, true]]));

    const { json } = await bench.ask('GET', '/workers');

    expect(json.workers).toMatchObject([
      {
        url: A,
        breaker: 'closed',
        overloaded: true,
        overload: { waiting_requests: 5, token_usage: null },
        load_monitor_interval_secs: 2,
        engine_load: { version: '', dp_rank_count: 1, loads: [{ dp_rank: 0, num_waiting_reqs: 7 }] },
      },
      { url: B, overloaded: false, overload: null, load_monitor_interval_secs: null, engine_load: null },
    ]);
    expect(Math.abs(Date.parse(json.workers[0].engine_load.timestamp) - Date.now())).toBeLessThan(60_000);
  });
});
