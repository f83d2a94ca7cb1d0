/** State of a worker (policies 2.1); JSON shows these names as they are. */
export type WorkerStatus = 'pending' | 'ready' | 'not_ready' | 'failed' | 'draining';

export type WorkerType = 'regular' | 'prefill' | 'decode';

/** Where a worker was announced. A source only removes workers that it brought itself. */
export type WorkerSource = 'flags' | 'file' | 'api';

/**
 * Requests in flight on one worker instance, as this service knows them. Written only by the in-flight ledger; a worker
 * that leaves and returns at the same URL is a new instance with counts of its own.
 */
export interface WorkerLoad {
  /** Requests placed and not yet ended. */
  readonly requests: number;
  /** Distinct load keys with at least one request in flight. */
  readonly distinctKeys: number;
  /** Requests in flight of one load key. */
  ofKey(loadKey: string): number;
}

/** One routable backend at one moment. Immutable: a change of state makes a new object in a new snapshot. */
export interface Worker {
  /** Stable identity: the registered URL, with `@rank` when data-parallel. */
  readonly id: string;
  /** Registered base URL without a trailing slash. */
  readonly url: string;
  /** Operator's name for it; the id when none was given. */
  readonly name: string;
  readonly type: WorkerType;
  readonly source: WorkerSource;
  /** Model ids it serves, in its own order; empty means any. */
  readonly models: readonly string[];
  readonly status: WorkerStatus;
  /** `ip:port` in Envoy's canonical form (IPv6 bracketed and compressed); empty while its name does not resolve. */
  readonly address: string;
  /** May take unkeyed requests and new keys: ready, and its address is known. */
  readonly placeable: boolean;
  /** May take requests of keys already pinned to it: placeable, or in a soft drain while its probes succeed. */
  readonly keepsPins: boolean;
  /** Counts of this instance; shared by every snapshot it appears in. */
  readonly load: WorkerLoad;
  readonly priority: number;
  readonly cost: number;
  readonly labels: Readonly<Record<string, string>>;
}
