import type { Metrics } from '../support/service-process.ts';

/** Counters, and a gauge, whose growth over a scenario is compared, with the labels that are left out of it. */
const COUNTERS: Readonly<Record<string, readonly string[]>> = {
  smg_manual_policy_cache_entries: [],
  smg_worker_cb_transitions_total: ['worker'],
  smg_worker_cb_outcomes_total: ['worker'],
  smg_manual_policy_branch_total: [],
  smg_routing_key_source_total: [],
  smg_consistent_hashing_policy_branch_total: [],
  smg_prefix_hash_policy_branch_total: [],
  smg_cache_aware_policy_branch_total: [],
  smg_cache_aware_match_ratio_bucket: [],
  smg_cache_aware_match_ratio_count: [],
  smg_worker_selection_total: [],
  smg_worker_overload_shed_total: [],
  smg_worker_overload_fallback_total: [],
  smg_worker_errors_total: [],
  smg_worker_retries_total: [],
  smg_worker_retries_exhausted_total: [],
  smg_router_requests_total: ['streaming'],
  smg_router_request_errors_total: [],
  smg_router_upstream_responses_total: [],
  smg_router_request_body_path_total: [],
};

/** Gauges whose value after a scenario is compared. */
const GAUGES: readonly string[] = [
  'smg_worker_requests_active',
  'smg_worker_routing_keys_active',
  'smg_worker_pool_size',
  'smg_worker_health',
  'smg_workers_overloaded',
  'smg_worker_cb_state',
  'smg_engine_waiting_requests',
  'smg_engine_token_usage',
  'smg_engine_gen_throughput',
];

/** Values by `name{label="value",…}`; worker URLs as indices; those that are 0 are left out. */
export type Reading = ReadonlyMap<string, number>;

export function readCounters(metrics: Metrics, urls: readonly string[]): Reading {
  return read(metrics, urls, (name) => COUNTERS[name]);
}

export function readGauges(metrics: Metrics, urls: readonly string[]): Reading {
  return read(metrics, urls, (name) => (GAUGES.includes(name) ? [] : undefined));
}

/** What was added since. */
export function growth(before: Reading, after: Reading): Reading {
  const grown = new Map<string, number>();
  for (const [name, value] of after) {
    const more = value - (before.get(name) ?? 0);
    if (more !== 0) grown.set(name, more);
  }
  return grown;
}

function read(
  metrics: Metrics,
  urls: readonly string[],
  ignored: (name: string) => readonly string[] | undefined,
): Reading {
  const values = new Map<string, number>();
  for (const { name, labels, value } of metrics.samples) {
    const left = ignored(name);
    if (left === undefined || value === 0) continue;
    const told = Object.entries(labels)
      .filter(([label]) => !left.includes(label))
      .map(([label, text]) => `${label}="${urls.includes(text) ? urls.indexOf(text) : text}"`)
      .sort();
    const key = `${name}{${told.join(',')}}`;
    values.set(key, (values.get(key) ?? 0) + value);
  }
  return values;
}
