/**
 * The metrics of SMG that have a meaning behind Envoy: names, labels and label values are SMG's (sticky-sessions 8,
 * policies 8), so that its dashboards and alerts go on working.
 */

import type { BodyReason } from '../routing/body-reason.ts';
import { BODY_REASONS } from '../routing/body-reason.ts';
import { KEY_SOURCES, PREFIX_BRANCHES, RING_BRANCHES, STICKY_BRANCHES, TREE_BRANCHES } from '../routing/decision.ts';
import { POLICY_NAMES } from '../routing/policy-name.ts';
import { counter, gauge, histogram, label } from './definition.ts';
import { ENDPOINT_LABELS } from './endpoint-label.ts';
import { DISCOVERY_SOURCE_LABELS } from './own-metrics.ts';

/** Buckets of SMG's `*_duration_seconds` (policies 8.3). */
const DURATION_BUCKETS = [
  0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 45, 60, 90, 120, 180, 240, 300, 480, 900,
  1200, 1800, 2700, 3600, 5400, 7200,
] as const;

const WORKER_TYPES = ['regular', 'prefill', 'decode'] as const;

const BREAKER_STATES = ['closed', 'open', 'half_open'] as const;

const discoverySource = label('source', DISCOVERY_SOURCE_LABELS);
const workerType = label('worker_type', WORKER_TYPES);
const connectionMode = label('connection_mode', ['http']);
const routerType = label('router_type', ['http']);
const backendType = label('backend_type', ['regular', 'pd']);
const model = label('model', 'request');
const endpoint = label('endpoint', ENDPOINT_LABELS);
const worker = label('worker', 'operator');

const dpRank = label('dp_rank', 'operator');
const engineLabels = [worker, model, dpRank] as const;
const transferLabels = [worker, label('role', ['prefill', 'decode', 'null']), dpRank] as const;

/** `buffered`: the body was asked for; `streamed`: the headers decided. */
export type BodyPath = 'buffered' | 'streamed';

/** Which path a reason belongs to. */
export const BODY_PATHS: Readonly<Record<BodyReason, BodyPath>> = {
  routing_key_override: 'buffered',
  policy_needs_text: 'buffered',
  model_ambiguous: 'buffered',
  worker_mutates_body: 'buffered',
  pd: 'buffered',
  model_alias: 'buffered',
  header_only: 'streamed',
  no_body: 'streamed',
  not_json: 'streamed',
  mode_cannot_grant: 'streamed',
};

export const SMG_METRICS = {
  manualBranches: counter(
    'smg_manual_policy_branch_total',
    'Decisions of the sticky override and of the manual policy, by how the key was found.',
    [label('branch', STICKY_BRANCHES)],
  ),
  manualCacheEntries: gauge('smg_manual_policy_cache_entries', 'Sticky keys remembered.', []),
  routingKeySources: counter(
    'smg_routing_key_source_total',
    'Keyed decisions of the sticky override, by where the key came from.',
    [label('source', KEY_SOURCES)],
  ),
  consistentHashingBranches: counter(
    'smg_consistent_hashing_policy_branch_total',
    'Decisions of the consistent_hashing policy, by what decided.',
    [label('branch', RING_BRANCHES)],
  ),
  prefixHashBranches: counter(
    'smg_prefix_hash_policy_branch_total',
    'Decisions of the prefix_hash policy, by what decided.',
    [label('branch', PREFIX_BRANCHES)],
  ),
  cacheAwareBranches: counter(
    'smg_cache_aware_policy_branch_total',
    'Decisions of the cache_aware policy that its trees made, by what decided.',
    [label('branch', TREE_BRANCHES)],
  ),
  cacheAwareMatchRatio: histogram(
    'smg_cache_aware_match_ratio',
    'Share of each prompt that a tree of the cache_aware policy knew.',
    [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1],
    [],
  ),
  cacheTreeChars: gauge('smg_cache_tree_chars', 'Characters in the text tree of a model, summed over workers.', [
    model,
  ]),
  cacheTreeTokens: gauge('smg_cache_tree_tokens', 'Tokens in the token tree of a model, summed over workers.', [model]),
  cacheTreeTenants: gauge(
    'smg_cache_tree_tenants',
    'Workers in a tree of a model: of the text tree all that are registered, of the token tree those that hold something.',
    [model, label('tree', ['string', 'token'])],
  ),
  cachePlacementEntries: gauge('smg_cache_placement_entries', 'Entries in the hash index of a model.', [model]),
  workerSelections: counter('smg_worker_selection_total', 'Workers selected.', [
    workerType,
    connectionMode,
    model,
    label('policy', POLICY_NAMES),
  ]),
  workerPoolSize: gauge('smg_worker_pool_size', 'Workers registered for a model, whatever their status.', [
    workerType,
    connectionMode,
    model,
  ]),
  workerHealth: gauge('smg_worker_health', 'Health of a worker: 1 ready, 0 any other status, -1 removed.', [worker]),
  workerRequestsActive: gauge('smg_worker_requests_active', 'Requests in flight on a worker.', [worker]),
  workerRoutingKeysActive: gauge(
    'smg_worker_routing_keys_active',
    'Distinct keys with at least one request in flight on a worker.',
    [worker],
  ),
  workerHealthChecks: counter('smg_worker_health_checks_total', 'Active health checks done, by their result.', [
    workerType,
    label('result', ['success', 'failure']),
  ]),
  workerCbState: gauge(
    'smg_worker_cb_state',
    'Circuit breaker of a worker: 0 closed, 1 open, 2 half-open, -1 removed.',
    [worker],
  ),
  workerCbFailureRun: gauge(
    'smg_worker_cb_consecutive_failures',
    'Failures of a worker in a row, as its circuit breaker counts them.',
    [worker],
  ),
  workerCbSuccessRun: gauge(
    'smg_worker_cb_consecutive_successes',
    'Successes of a worker in a row, as its circuit breaker counts them.',
    [worker],
  ),
  workerCbTransitions: counter('smg_worker_cb_transitions_total', 'Changes of state of a circuit breaker.', [
    worker,
    label('from', BREAKER_STATES),
    label('to', BREAKER_STATES),
  ]),
  workerCbOutcomes: counter(
    'smg_worker_cb_outcomes_total',
    'Attempts at a worker, by what its circuit breaker makes of them. Answers with 429 are neither.',
    [worker, label('outcome', ['success', 'failure'])],
  ),
  workersOverloaded: gauge('smg_workers_overloaded', 'Workers of a model that are out for overload.', [model]),
  overloadSheds: counter(
    'smg_worker_overload_shed_total',
    'Requests refused because every worker was overloaded. A choice is dispatched at once here, so only selection moves.',
    [label('stage', ['selection', 'dispatch', 'pd_admission'])],
  ),
  overloadFallbacks: counter(
    'smg_worker_overload_fallback_total',
    'Requests sent to the least loaded worker since all were overloaded (--smg-compat 1.13).',
    [label('stage', ['selection', 'dispatch'])],
  ),
  engineRunning: gauge('smg_engine_running_requests', 'Requests that the engine says it runs.', engineLabels),
  engineWaiting: gauge('smg_engine_waiting_requests', 'Requests that the engine says are waiting.', engineLabels),
  engineTokenUsage: gauge(
    'smg_engine_token_usage',
    'Share of its KV cache that the engine says is in use.',
    engineLabels,
  ),
  engineGenThroughput: gauge(
    'smg_engine_gen_throughput',
    'Tokens per second that the engine says it generates.',
    engineLabels,
  ),
  engineCacheHitRate: gauge(
    'smg_engine_cache_hit_rate',
    'Prefix-cache hit rate that the engine reports.',
    engineLabels,
  ),
  enginePdLatency: gauge(
    'smg_engine_pd_kv_transfer_latency_ms',
    'Latency of KV transfers that the engine reports, in milliseconds.',
    transferLabels,
  ),
  enginePdSpeed: gauge(
    'smg_engine_pd_kv_transfer_speed_gb_s',
    'Speed of KV transfers that the engine reports, in gigabytes per second.',
    transferLabels,
  ),
  enginePdPrefillQueue: gauge(
    'smg_engine_pd_prefill_queue_reqs',
    'Requests in the prefill queue of the engine.',
    transferLabels,
  ),
  enginePdDecodeQueue: gauge(
    'smg_engine_pd_decode_queue_reqs',
    'Requests in the decode queue of the engine.',
    transferLabels,
  ),
  workerErrors: counter('smg_worker_errors_total', 'Requests that failed at or on the way to their last worker.', [
    workerType,
    connectionMode,
    label('error_type', ['timeout', 'backend_error']),
  ]),
  workerRetries: counter('smg_worker_retries_total', 'Further attempts that Envoy made for a request.', [
    workerType,
    endpoint,
  ]),
  workerRetriesExhausted: counter(
    'smg_worker_retries_exhausted_total',
    'Requests that were retried until no attempt was left.',
    [workerType, endpoint],
  ),
  requestBodyPaths: counter(
    'smg_router_request_body_path_total',
    'Requests by whether their body was asked for to decide, and why or why not.',
    [label('path', ['buffered', 'streamed']), label('reason', BODY_REASONS)],
    BODY_REASONS.map((reason) => [BODY_PATHS[reason], reason]),
  ),
  routerRequests: counter(
    'smg_router_requests_total',
    'Requests placed, or refused for want of a model or a worker. streaming is unknown where the body was not read, or not far enough to tell.',
    [routerType, backendType, connectionMode, model, endpoint, label('streaming', ['true', 'false', 'unknown'])],
  ),
  routerRequestErrors: counter('smg_router_request_errors_total', 'Requests refused or failed, by kind of error.', [
    routerType,
    backendType,
    connectionMode,
    model,
    endpoint,
    label('error_type', ['no_workers', 'timeout', 'backend_error', 'validation_error', 'internal_error']),
  ]),
  upstreamResponses: counter(
    'smg_router_upstream_responses_total',
    'Final answers to placed requests as the client got them, by status and error code (empty: no error of the gateway).',
    [routerType, label('status_code', 'request'), label('error_code', 'request')],
  ),
  pdConnectorModes: counter(
    'smg_pd_kv_connector_mode_total',
    'Requests for workers that want the prefill before the decode, by how the KV cache is handed over.',
    [label('mode', ['mooncake', 'nixl', 'passthrough'])],
  ),
  pdTransferFailures: counter(
    'smg_pd_kv_transfer_failures_total',
    'Requests whose decode worker has to compute the prompt itself, since NIXL named no cache, or a body could not be changed.',
    [],
  ),
  pdBootstrapFailures: counter(
    'smg_pd_bootstrap_failures_total',
    'Requests whose body could not name the room where both workers meet.',
    [],
  ),
  pdTimeToFirstToken: histogram(
    'smg_pd_ttft_seconds',
    'Seconds from the start of a request that is split to the first byte of its good answer, as Envoy measured it.',
    DURATION_BUCKETS,
    [label('backend_type', ['pd']), model, label('runtime', 'operator')],
  ),
  pdPrefillDuration: histogram(
    'smg_pd_prefill_duration_seconds',
    'Duration of prefills that this service sent and that went well, in seconds.',
    DURATION_BUCKETS,
    [label('backend_type', ['pd']), model, label('runtime', 'operator')],
  ),
  requestDuration: histogram(
    'smg_router_request_duration_seconds',
    'Whole duration of placed requests in seconds, as Envoy measured it.',
    DURATION_BUCKETS,
    [routerType, backendType, connectionMode, model, endpoint],
  ),
  discoveryRegistrations: counter(
    'smg_discovery_registrations_total',
    'Workers that a source has brought; failed: another source declared them before.',
    [discoverySource, label('result', ['success', 'failed'])],
  ),
  discoveryDeregistrations: counter(
    'smg_discovery_deregistrations_total',
    'Workers that a source names no more, or as leaving.',
    [discoverySource, label('reason', ['reconciled'])],
  ),
  discoverySyncDuration: histogram(
    'smg_discovery_sync_duration_seconds',
    'Duration of making the fleet what a source says, in seconds, where that changed anything.',
    DURATION_BUCKETS,
    [discoverySource],
  ),
  discoveryWorkers: gauge('smg_discovery_workers_discovered', 'Workers that a source names now.', [discoverySource]),
};
