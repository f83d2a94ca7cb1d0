/** What is remembered of one sticky key. Immutable: a write replaces it. */
export interface Pin {
  /** Worker ids, one or two, best first (sticky-sessions 3.3). */
  readonly candidates: readonly string[];
  /** Grows with each write of the key; the handle for compare-and-set. */
  readonly version: number;
}

/** A shared store had to be asked and does not answer. */
export class PinStoreAway extends Error {
  override readonly name = 'PinStoreAway';

  constructor(options?: ErrorOptions) {
    super('the pin store does not answer', options);
  }
}

/** One row of a listing. */
export interface PinEntry extends Pin {
  readonly key: string;
  /** Milliseconds since its last use. */
  readonly idleMs: number;
  /** True when all replicas hold it so, as far as this one knows. */
  readonly shared: boolean;
}

export interface PinPage {
  readonly pins: readonly PinEntry[];
  /** Pass it back to go on; null at the end. */
  readonly cursor: string | null;
}

/**
 * Memory of which worker holds which sticky key.
 *
 * A look-up is always answered from process memory. A write may have to ask a shared store first, and then answers with a
 * promise; the memory store always answers at once. `now` is in milliseconds and never runs backwards.
 */
export interface PinStore {
  /** The pin of a key. Counts as a use of it, whatever the caller does next (sticky-sessions 3.5 step 3). */
  get(key: string, now: number): Pin | undefined;
  /** The pin of a key without touching its last use. */
  peek(key: string): Pin | undefined;
  /** Milliseconds since the last use of a key that `peek` finds; null for any other. */
  idleMs(key: string, now: number): number | null;
  /**
   * Compare-and-set: stores `candidates` if the key's version is still `expectedVersion` (0: the key is not stored).
   * Answers with the pin that holds afterwards: the written one, or the winner that was there first, which is not used by
   * this. A key that is gone by now is written anew, since nobody else claimed it.
   */
  put(key: string, candidates: readonly string[], expectedVersion: number, now: number): Pin | Promise<Pin>;
  /** Counts as a use without a look-up: the end of a request (sticky-sessions P19). */
  touch(key: string, now: number): void;
  /** Forgets a key, at all replicas; false when it was not there. Rejects with `PinStoreAway`, and forgets nothing then. */
  delete(key: string): boolean | Promise<boolean>;
  /** The pin of a key that holds for all replicas, without touching its last use. Rejects with `PinStoreAway`. */
  fetch(key: string): Pin | undefined | Promise<Pin | undefined>;
  /**
   * Removes pins idle for at least `maxIdleMs` (0: none), the longest idle first, and answers how many. One call removes
   * at most a bounded batch, so that no request waits long for it: call again until it answers 0.
   */
  sweep(now: number, maxIdleMs: number): number;
  /** A page of at most `limit` (≥ 1) pins. A pin that stays through a whole listing appears in it exactly once. */
  list(limit: number, cursor: string | null, now: number): PinPage;
  /** What keeps the pins, as metrics name it. */
  readonly kind: 'memory' | 'redis';
  /** True while a shared store cannot be asked: what is written now holds for this replica alone. */
  readonly away: boolean;
  /** Pins stored in this process. */
  readonly size: number;
  /** Pins that left because the store was full, since start. */
  readonly evicted: number;
}
