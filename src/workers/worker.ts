import type { EngineLoad } from './engine-load.ts';
import type { LegFacts } from './leg-facts.ts';
import type { BreakerState, WorkerSource, WorkerStatus, WorkerType } from './worker-kinds.ts';

/**
 * Requests in flight on one worker instance: those of this replica, and what other replicas tell of the same worker. The
 * own ones are written only by the in-flight ledger; a worker that leaves and returns at the same URL is a new instance with
 * counts of its own.
 */
export interface WorkerLoad {
  /** Requests placed and not yet ended, by all replicas. */
  readonly requests: number;
  /** Distinct load keys with at least one request in flight; a key that is active at two replicas counts twice. */
  readonly distinctKeys: number;
  /** Requests in flight of one load key, by all replicas. */
  ofKey(loadKey: string): number;
  /** `requests` of this replica alone. */
  readonly ownRequests: number;
  /** `distinctKeys` of this replica alone. */
  readonly ownDistinctKeys: number;
}

/** One routable backend at one moment. Immutable: a change of state makes a new object in a new snapshot. */
export interface Worker {
  /** Stable identity: the registered URL, with `@rank` when data-parallel. */
  readonly id: string;
  /** Registered base URL without a trailing slash: where its requests go. */
  readonly url: string;
  /** Data-parallel rank of the engine at its URL, which the body of its requests names; null when it is the whole engine. */
  readonly rank: number | null;
  /** Ranks of that engine, as it told; null where it was not asked, or the worker is no rank. */
  readonly dpSize: number | null;
  /** Operator's name for it; the id when none was given. */
  readonly name: string;
  readonly type: WorkerType;
  /** Null for a regular worker. The same object as long as nothing in it changes. */
  readonly legFacts: LegFacts | null;
  readonly source: WorkerSource;
  /** Model ids it serves, in its own order; empty means any. */
  readonly models: readonly string[];
  readonly status: WorkerStatus;
  /** `ip:port` in Envoy's canonical form (IPv6 bracketed and compressed); empty while its name does not resolve. */
  readonly address: string;
  readonly breaker: BreakerState;
  /** Its last load report says that it has too much to do (policies 2.2). */
  readonly overloaded: boolean;
  /**
   * May take unkeyed requests and new keys: ready, its address is known, its breaker is not open and it is not
   * overloaded.
   */
  readonly placeable: boolean;
  /** May take requests of keys already pinned to it: placeable, or as much but in a soft drain. */
  readonly keepsPins: boolean;
  /** Counts of this instance; shared by every snapshot it appears in. */
  readonly load: WorkerLoad;
  /** Load of this instance as its engine tells it; shared like `load`. */
  readonly engine: EngineLoad;
  readonly priority: number;
  readonly cost: number;
  readonly labels: Readonly<Record<string, string>>;
}

export const NO_WORKERS: readonly Worker[] = [];

/** True when nothing but its load, or a drain, keeps a worker from new requests. */
export function isUp({ status, address, breaker }: Pick<Worker, 'status' | 'address' | 'breaker'>): boolean {
  return status === 'ready' && address !== '' && breaker !== 'open';
}
