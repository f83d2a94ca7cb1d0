import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readMetricsLoads } from './read-metrics-loads.ts';

const vllm = (lines: Readonly<Record<string, number>>) =>
  Object.entries(lines)
    .map(([name, value]) => `vllm:${name} ${value}\n`)
    .join('');

describe('policies 3.2 Prometheus mapping', () => {
  it('reads vLLM: requests summed and cut, the rest as means', () => {
    const text = `
# HELP vllm:num_requests_running Number of requests in model execution batches.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{model_name="m",engine="0"} 2
vllm:num_requests_running{model_name="m",engine="1"} 3
vllm:num_requests_waiting{model_name="m, {x} \\"y\\" }",engine="0"} 4.0
vllm:num_requests_waiting{engine="1"} 4.6
vllm:kv_cache_usage_perc{engine="0"} 0.5
vllm:kv_cache_usage_perc{engine="1"} 0.7
vllm:gpu_prefix_cache_hit_rate{engine="0"} 0.3
vllm:gpu_prefix_cache_hit_rate{engine="1"} 0.5
`;

    expect(readMetricsLoads(text, 9)).toEqual({
      at: 9,
      ranks: [
        {
          rank: 0,
          runningRequests: 5,
          waitingRequests: 8,
          waitingUncachedTokens: 0,
          totalRequests: 0,
          usedTokens: 0,
          maxTokens: 0,
          tokenUsage: 0.6,
          genThroughput: 0,
          cacheHitRate: 0.4,
          utilization: 0,
          maxRunningRequests: 0,
          transfer: null,
        },
      ],
      runningRequests: 5,
      waitingRequests: 8,
      waitingUncachedTokens: 0,
      genThroughput: 0,
      tokenUsage: 0.6,
    });
  });

  it.each(['sglang:', 'sglang_'])('reads SGLang with the prefix %s', (prefix) => {
    const series = (name: string, ...values: readonly number[]) =>
      values.map((value, index) => `${prefix}${name}{tp_rank="${index}"} ${value}\n`).join('');
    const text =
      series('num_running_reqs', 2, 3) +
      series('num_queue_reqs', 4, 4) +
      series('token_usage', 0.5, 0.7) +
      series('gen_throughput', 10, 20) +
      series('cache_hit_rate', 0.2, 0.4) +
      series('utilization', 0.1, 0.3);

    expect(readMetricsLoads(text, 0)?.ranks[0]).toMatchObject({
      runningRequests: 5,
      waitingRequests: 8,
      tokenUsage: 0.6,
      genThroughput: 15,
      cacheHitRate: expect.closeTo(0.3, 12),
      utilization: 0.2,
    });
  });

  it.each([
    { text: vllm({ kv_cache_usage_perc: 0.5, gpu_cache_usage_perc: 0.9 }), usage: 0.9 },
    { text: vllm({ gpu_cache_usage_perc: 0.4 }), usage: 0.4 },
    { text: vllm({ kv_cache_usage_perc: 0.4 }), usage: 0.4 },
    { text: 'sglang_token_usage 0.5\nsglang:num_running_reqs 7\nsglang_num_running_reqs 2\n', usage: 0.5 },
  ])('$text: usage $usage', ({ text, usage }) => {
    expect(readMetricsLoads(text, 0)?.tokenUsage).toBe(usage);
  });

  it('takes the numbers of one prefix only: the one whose usage is told', () => {
    const text = 'sglang_token_usage 0.5\nsglang:num_running_reqs 7\nsglang_num_running_reqs 2\n';

    expect(readMetricsLoads(text, 0)?.runningRequests).toBe(2);
  });

  it.each([
    '',
    vllm({ num_requests_waiting: 6, num_requests_running: 1 }),
    'vllm:kv_cache_usage_perc abc\n',
    'vllm:kv_cache_usage_perc NaN\n',
    'vllm:kv_cache_usage_perc_total 0.5\n',
    'vllm_kv_cache_usage_perc 0.4\n',
  ])('%j is no report, as usage is required', (text) => {
    expect(readMetricsLoads(text, 0)).toBeNull();
  });

  it('never throws, and tells finite numbers only', () => {
    const name = fc.constantFrom('vllm:kv_cache_usage_perc', 'vllm:num_requests_waiting', 'sglang:token_usage', 'x');
    const value = fc.oneof(fc.double(), fc.string());
    const line = fc.tuple(name, value).map(([metric, number]) => `${metric} ${number}`);

    fc.assert(
      fc.property(fc.array(line), (lines) => {
        const report = readMetricsLoads(lines.join('\n'), 0);

        return report === null || [report.tokenUsage, report.waitingRequests].every(Number.isFinite);
      }),
    );
  });

  it('reads an exposition of a megabyte', () => {
    const noise = 'vllm:request_latency_bucket{le="0.5",model_name="m"} 12345\n'.repeat(20_000);

    expect(readMetricsLoads(`${noise}${vllm({ kv_cache_usage_perc: 0.25 })}${noise}`, 0)?.tokenUsage).toBe(0.25);
  });
});
