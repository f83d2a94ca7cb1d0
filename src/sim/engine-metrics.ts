import type { Tally } from './counters.ts';
import type { Knobs } from './knobs.ts';

/** The worker's load as a vLLM engine exposes it, in Prometheus text format. */
export function engineMetrics(tally: Tally, knobs: Knobs): string {
  const labels = `{model_name="${knobs.models[0] ?? 'sim-model'}",engine="0"}`;
  const series: readonly (readonly [name: string, type: string, value: number])[] = [
    ['vllm:num_requests_running', 'gauge', tally.running],
    ['vllm:num_requests_waiting', 'gauge', knobs.waiting],
    ['vllm:kv_cache_usage_perc', 'gauge', knobs.kvUsage],
    ['vllm:request_success_total', 'counter', tally.completed],
    ['vllm:generation_tokens_total', 'counter', tally.tokens],
  ];
  return series.map(([name, type, value]) => `# TYPE ${name} ${type}\n${name}${labels} ${value}\n`).join('');
}
