import type { Worker } from '../workers/worker.ts';
import type { Leg } from './pin-key.ts';
import type { PolicyName } from './policy-name.ts';

/** Label values of `smg_manual_policy_branch_total` (sticky-sessions 8). */
export const STICKY_BRANCHES = [
  'occupied_hit',
  'occupied_miss',
  'vacant',
  'cap_respill',
  'no_routing_id',
  'no_healthy_workers',
] as const;
export type StickyBranch = (typeof STICKY_BRANCHES)[number];

/** Label values of `smg_consistent_hashing_policy_branch_total`. */
export const RING_BRANCHES = [
  'target_worker_hit',
  'target_worker_miss',
  'routing_key_hit',
  'random_fallback',
  'no_healthy_workers',
] as const;
export type RingBranch = (typeof RING_BRANCHES)[number];

/** Label values of `smg_routing_key_source_total`: from the body, and from the head. */
export const KEY_SOURCES = ['rid', 'header'] as const;
export type KeySourceLabel = (typeof KEY_SOURCES)[number];

/** Where a key can be found: label values of `smg_envoy_routing_key_source_total`. */
export const KEY_PLACES = ['rid', 'header', 'agents', 'cookie', 'query', 'body', 'opening'] as const;
export type KeyPlace = (typeof KEY_PLACES)[number];

/** Which of SMG's two sources a place counts as. */
export function sourceOf(place: KeyPlace): KeySourceLabel {
  return place === 'rid' || place === 'body' || place === 'opening' ? 'rid' : 'header';
}

/** Label values of `smg_cache_aware_policy_branch_total`, which counts what the trees decided. */
export const TREE_BRANCHES = ['tree_match', 'spill', 'expected_wait_fallback', 'first_healthy_fallback'] as const;

/** What `cache_aware` decided without the trees: by its hash index, or by load alone under KV pressure. */
export const CACHE_INDEX_BRANCHES = [
  'hash_hit',
  'hash_spill',
  'short_request',
  'expected_wait_fallback',
  'kv_pressure_expected_wait',
] as const;

/** How `cache_aware` came to its worker (policies 1.6.10). The trees were asked where the trail has a match ratio. */
export type CacheBranch = (typeof TREE_BRANCHES)[number] | (typeof CACHE_INDEX_BRANCHES)[number];

/** Label values of `smg_prefix_hash_policy_branch_total`. */
export const PREFIX_BRANCHES = [
  'ring_hit',
  'load_balance_walk',
  'fallback_least_load',
  'no_routing_key',
  'no_healthy_workers',
] as const;
export type PrefixBranch = (typeof PREFIX_BRANCHES)[number];

/** How a decision came about, noted while it is made: counted afterwards, told by `explain`. All fields set at birth. */
export interface Trail {
  /** Branch of the sticky override or of `manual`; null when neither took part. */
  stickyBranch: StickyBranch | null;
  /** Branch of `consistent_hashing`; null when it took no part. */
  ringBranch: RingBranch | null;
  /** Branch of `cache_aware`; null when it took no part. */
  cacheBranch: CacheBranch | null;
  /** Share of the prompt that a tree knew, 0 to 1; -1 when none was asked. */
  matchRatio: number;
  /** Branch of `prefix_hash`; null when it took no part. */
  prefixBranch: PrefixBranch | null;
  /** Where the override found its key; null without the override or without a key. */
  keySource: KeyPlace | null;
  /** The worker is overloaded like all others of its model, and was chosen all the same (smg-observed 6). */
  pastVeto: boolean;
}

/** A pin to be written for a decision to hold. */
export interface PinWrite {
  readonly key: string;
  readonly candidates: readonly string[];
  /** Version that the decision was made on; 0 when the key was not stored. */
  readonly expectedVersion: number;
}

/** The request, or one leg of it, is placed. Under prefill/decode disaggregation the whole is the decode leg. */
export interface Decision {
  readonly kind: 'placed';
  readonly worker: Worker;
  /** Where Envoy goes on when the worker fails, best first; empty for a strict target. */
  readonly fallbacks: readonly Worker[];
  /** True when no other worker may serve (`x-smg-target-worker`). */
  readonly strict: boolean;
  /** True when nobody else than those named here may serve: it is strict, or others do not fit the prefill worker. */
  readonly closed: boolean;
  readonly policy: PolicyName;
  /** Canonical model id, `unknown` when the request names none. */
  readonly model: string;
  /** Key under which the pin is stored, null when the request is not sticky. */
  readonly pinKey: string | null;
  /** Key under which the request counts as in flight (sticky-sessions 2.6), null without one. */
  readonly loadKey: string | null;
  readonly write: PinWrite | null;
  /** Where its prefill goes first; null without disaggregation (policies 4.1). */
  readonly prefill: Decision | null;
  readonly trail: Trail;
}

/** A trail on which nothing is noted yet. */
export function newTrail(): Trail {
  return {
    stickyBranch: null,
    ringBranch: null,
    cacheBranch: null,
    matchRatio: -1,
    prefixBranch: null,
    keySource: null,
    pastVeto: false,
  };
}

/** Why a request cannot be placed; the last two only under prefill/decode disaggregation. */
export type RefusalReason =
  | 'model_not_found'
  | 'no_available_workers'
  | 'worker_overload_protection_shed'
  | 'no_compatible_pd_pair'
  | 'endpoint_not_supported';

/** The request cannot be placed (sticky-sessions 7.2). */
export interface Refusal {
  readonly kind: 'refused';
  readonly reason: RefusalReason;
  /** The leg that nobody can take. */
  readonly leg: Leg;
  /** What the message says of the cause; null for the usual words. */
  readonly detail: string | null;
  /** The client named the one worker that may serve (`x-smg-target-worker`): nobody else may be asked instead. */
  readonly strict: boolean;
  readonly policy: PolicyName;
  readonly model: string;
  readonly trail: Trail;
}

export type Outcome = Decision | Refusal;
