/** What the routes answer, as far as the page reads it (docs/reference/admin-api.md). */

export interface Warning {
  readonly code: string;
  readonly level: 'bad' | 'look';
  readonly title: string;
  readonly text: string;
}

export interface Overview {
  readonly version: string;
  readonly started_at: string;
  readonly at: string;
  readonly status: 'ready' | 'not_ready';
  readonly reason: string | null;
  readonly caller: { readonly id: string; readonly role: string } | null;
  readonly keys_needed: boolean;
  readonly disaggregated: boolean;
  readonly tenants: boolean;
  readonly workers: {
    readonly total: number;
    readonly ready: number;
    readonly draining: number;
    readonly in_flight: number;
  };
  readonly pins: {
    readonly total: number;
    readonly store: string;
    readonly state: string | null;
  };
  readonly envoy: {
    readonly connections: number;
    readonly open_calls: number;
    readonly log_streams: number;
    readonly end_of_request_source: string;
    readonly eds: {
      readonly version: number;
      readonly acks: number;
      readonly nacks: number;
      readonly last_nack: { readonly message: string; readonly version: string } | null;
      readonly clients: readonly { readonly node: string; readonly version: string; readonly current: boolean }[];
    };
  };
  readonly recent: { readonly decisions: number; readonly refused: number; readonly passed: number };
  readonly warnings: readonly Warning[];
}

export interface WorkerRow {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly models: readonly { readonly id: string }[];
  readonly worker_type: string;
  readonly load: number;
  readonly routing_keys: number;
  /** Null before they were counted. */
  readonly pins: number | null;
  readonly breaker: string;
  readonly overloaded: boolean;
  readonly engine_load: { readonly loads: readonly EngineRank[] } | null;
  readonly last_probe: {
    readonly at: string;
    readonly ok: boolean;
    readonly detail: string;
    readonly duration_ms: number;
  } | null;
}

export interface EngineRank {
  readonly num_running_reqs?: number;
  readonly num_waiting_reqs?: number;
  readonly token_usage?: number;
}

export interface Series {
  readonly stepSecs: number;
  readonly at: readonly number[];
  readonly rates: Readonly<Record<string, readonly number[]>>;
}

export interface DecisionRow {
  readonly seq: number;
  readonly at: string;
  readonly duration_ms: number;
  readonly result: 'placed' | 'refused' | 'passed';
  readonly pick_id: string | null;
  readonly worker_id: string | null;
  readonly worker: string | null;
  readonly model: string | null;
  readonly policy: string | null;
  readonly branch: string | null;
  readonly policy_branch: string | null;
  readonly match_ratio: number | null;
  readonly key_source: string | null;
  readonly key_hash: string | null;
  readonly read: 'headers' | 'body';
  readonly fallbacks: readonly string[];
  readonly strict: boolean;
  readonly pinned: string | null;
  readonly reason: string | null;
  readonly prefill: { readonly worker: string; readonly branch: string | null } | null;
  readonly why: string;
}

export interface Decisions {
  readonly decisions: readonly DecisionRow[];
  readonly recording: Recording;
}

export interface Recording {
  readonly mode: string;
  readonly since: string | null;
}

export interface Pin {
  readonly key: string;
  readonly model: string | null;
  readonly leg: string;
  readonly worker_id: string | null;
  readonly candidates: readonly string[];
  readonly shared_reason: string | null;
}

export interface Explanation {
  readonly result: 'placed' | 'refused' | 'passed';
  readonly worker: string | null;
  readonly worker_id: string | null;
  readonly model: string | null;
  readonly policy: string | null;
  readonly branch: string | null;
  readonly fallbacks: readonly string[];
  readonly refusal: { readonly status: number; readonly message: string } | null;
  readonly body: { readonly read: boolean; readonly reason: string };
  readonly legs: readonly ExplainedLeg[];
  readonly why: string;
}

export interface ExplainedLeg {
  readonly leg: string;
  readonly key: {
    readonly source: string | null;
    readonly hash: string;
    readonly dropped_suffix: string;
    readonly use: string;
  } | null;
  readonly pin: {
    readonly held: boolean;
    readonly candidates: readonly {
      readonly worker_id: string;
      readonly serves: boolean;
      readonly in_flight: number;
    }[];
    readonly after: string;
    readonly idle_secs: number | null;
    readonly inflight_cap: number;
  } | null;
  readonly workers: readonly ExplainedWorker[];
}

export interface ExplainedWorker {
  readonly worker_id: string;
  readonly worker: string;
  readonly place: number | null;
  readonly eligible: boolean;
  readonly keeps_pins: boolean;
  readonly why_not: readonly string[];
  readonly in_flight: number;
  readonly weights: Readonly<Record<string, number | null>>;
}
