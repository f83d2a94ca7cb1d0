/** Where a request would go, and by which steps: the answer of `POST /explain` (interface 9). Numbers, ids and names of metrics. */
import type { BodyReason } from '../routing/body-reason.ts';
import type { CacheBranch, KeyPlace, PrefixBranch, RefusalReason } from '../routing/decision.ts';
import type { Leg } from '../routing/pin-key.ts';
import type { PolicyName } from '../routing/policy-name.ts';
import type { WeightName } from '../routing/rehearsal.ts';
import type { OpaqueReason, PassReason, RefusalCode } from '../telemetry/own-metrics.ts';
import type { BreakerState, WorkerStatus } from '../workers/worker-kinds.ts';

export interface Explanation {
  /** `passed`: Envoy would go on without a pick. */
  readonly result: 'placed' | 'refused' | 'passed';
  readonly worker_id: string | null;
  readonly worker: string | null;
  /** What Envoy is told: `ip:port[,ip:port…]`, best first. */
  readonly destination: string | null;
  readonly model: string | null;
  readonly policy: PolicyName | null;
  /** As in `x-smg-decision`; null before routing. */
  readonly branch: string | null;
  /** No other worker may serve it. */
  readonly strict: boolean;
  /** Ids of workers, best first. */
  readonly fallbacks: readonly string[];
  /** Why it is refused or passed. */
  readonly reason: RefusalReason | RefusalCode | PassReason | null;
  readonly refusal: ExplainedRefusal | null;
  readonly body: ExplainedBody;
  /** The request as a whole; where it is split, its prefill and its decode leg. Empty where no pool was looked at. */
  readonly legs: readonly ExplainedLeg[];
  /** What ready workers list, where the model of the request is not among that; null elsewhere. */
  readonly known_models: readonly string[] | null;
  readonly timings_ms: { readonly read: number; readonly decide: number };
}

export interface ExplainedRefusal {
  readonly status: number;
  readonly code: RefusalCode;
  readonly message: string;
  readonly retry_after_secs: number | null;
}

export interface ExplainedBody {
  readonly bytes: number;
  readonly read: boolean;
  /** Why it was read or not: `reason` of `smg_router_request_body_path_total`. */
  readonly reason: BodyReason;
  /** Why it told nothing though it was read. */
  readonly opaque: OpaqueReason | null;
}

export interface ExplainedLeg {
  readonly leg: Leg;
  readonly model: string;
  /** The request names the model by another name (`--model-alias`). */
  readonly alias: boolean;
  readonly policy: PolicyName;
  readonly sticky_by: 'override' | 'manual' | 'none';
  readonly branch: string | null;
  readonly policy_branch: CacheBranch | PrefixBranch | null;
  readonly match_ratio: number | null;
  /** All its workers are overloaded, and one of them was chosen all the same. */
  readonly past_veto: boolean;
  readonly worker_id: string | null;
  readonly key: ExplainedKey | null;
  readonly pin: ExplainedPin | null;
  readonly workers: readonly ExplainedWorker[];
}

export interface ExplainedKey {
  readonly source: KeyPlace | 'implicit' | null;
  /** As in the log and in `/decisions`; never the key itself. */
  readonly hash: string;
  /** What the key ends with, and what was dropped for the conversation's sake (sticky-sessions 2.2); empty for nothing. */
  readonly dropped_suffix: string;
  /** `pin`: keeps the request on a worker. `ring`: is hashed. `count`: only its requests in flight are counted. */
  readonly use: 'pin' | 'ring' | 'count';
}

export interface ExplainedPin {
  readonly held: boolean;
  readonly candidates: readonly ExplainedCandidate[];
  readonly version: number;
  readonly idle_secs: number | null;
  /** What becomes of it: `written` anew, `kept` as it is, `none` for a refusal. */
  readonly after: 'written' | 'kept' | 'none';
  /** Requests of the key in flight that make the next one be placed again; 0: no limit. */
  readonly inflight_cap: number;
  readonly store: 'memory' | 'redis';
  /** The shared store would be asked, and another replica may have been first. A dry run does not ask. */
  readonly asks_store: boolean;
}

export interface ExplainedCandidate {
  readonly worker_id: string;
  /** It is in the pool and takes requests of its keys. */
  readonly serves: boolean;
  /** Requests of the key. */
  readonly in_flight: number;
}

/** Why a worker is not among those to choose from. */
export type Obstacle =
  | 'wrong_model'
  | 'other_protocol'
  | 'not_in_subset'
  | 'does_not_fit'
  | 'no_address'
  | 'breaker_open'
  | 'overloaded'
  | Exclude<WorkerStatus, 'ready'>;

export interface ExplainedWorker {
  readonly worker_id: string;
  readonly worker: string;
  /** 0: picked; from 1 on, the fallbacks; null: neither. */
  readonly place: number | null;
  /** Takes new keys and requests without one. */
  readonly eligible: boolean;
  /** Takes requests of keys that are pinned to it. */
  readonly keeps_pins: boolean;
  readonly why_not: readonly Obstacle[];
  readonly status: WorkerStatus;
  readonly breaker: BreakerState;
  readonly in_flight: number;
  readonly weights: Readonly<Partial<Record<WeightName, number | null>>>;
}
