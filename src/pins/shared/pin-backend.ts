/** A pin as the shared store holds it. */
export interface StoredPin {
  /** Worker ids, best first; empty: the key was deleted a moment ago. */
  readonly candidates: readonly string[];
  /** Given by the store, never lower for a key than before: the later one holds. */
  readonly version: number;
}

/** What a write found. */
export interface Written extends StoredPin {
  /** True when it is what the caller wrote, false for the winner that was there. */
  readonly won: boolean;
}

export interface PinChange extends StoredPin {
  readonly name: string;
}

/**
 * The store that replicas share (decisions 6). Keys go by the fixed-size names of `PinNames`. Every call answers with
 * what the store holds then, or rejects when it cannot be asked; the caller bounds its wait. A call may be carried out
 * although its answer is lost, also twice: none does harm so.
 */
export interface PinBackend {
  /**
   * A version that the store cannot have given (`MAX_AHEAD_MS`) is none to it: stored, the key is absent; expected, 0.
   *
   * Compare-and-set: written when the stored version is at most `expectedVersion` (0: never seen), or the key is absent
   * or deleted. The new version is above both. Told to all replicas, unless the key was absent and not expected. When it
   * loses, it puts off the end of the winner as `touch` does: its asker uses that from now on.
   */
  put(name: string, candidates: readonly string[], expectedVersion: number, ttlMs: number): Promise<Written>;
  /** Gives back a pin that the store may have lost, with its version: written when absent or of a lower version. */
  offer(name: string, candidates: readonly string[], version: number, ttlMs: number): Promise<Written>;
  /** Puts off its end; never changes the pin. Null when absent. */
  touch(name: string, ttlMs: number): Promise<StoredPin | null>;
  read(name: string): Promise<StoredPin | null>;
  /** Told to all replicas; a trace stays for an hour, to which earlier versions lose. False when it was absent. */
  remove(name: string): Promise<boolean>;
}

/**
 * How far the store can be relied on: it answers within the bound; it answers, but too late to be waited for, so that pins are
 * written behind the answer; it does not answer, or refuses writes.
 */
export const STORE_STATES = ['up', 'slow', 'down'] as const;
export type StoreState = (typeof STORE_STATES)[number];

/** Why the store did not do what it was asked. */
export const STORE_ERROR_REASONS = [
  'auth',
  'readonly',
  'full',
  'timeout',
  'connection',
  'tls',
  'cluster',
  'loading',
  'script',
  'other',
] as const;
export type StoreErrorReason = (typeof STORE_ERROR_REASONS)[number];

/** What the pins must know of the way to the store. */
export interface StoreLink {
  readonly state: StoreState;
  /** Whether the store can have given this version, by its clock as it was heard last. It takes any other for none. */
  gave(version: number): boolean;
  /** A call that was waited for was answered (in `ms`), or was late or failed: the breaker opens after some of the latter. */
  answered(ms: number): void;
  failed(): void;
  /** The state has changed, `state` says to what. Answers with an end of the subscription. */
  onState(listener: (state: StoreState) => void): () => void;
  /** Changes by other replicas and by this one, in the order of the store. */
  onChange(listener: (change: PinChange) => void): () => void;
  /** Changes may have been missed, or the store has lost what it held: everything known has to be compared with it. */
  onGap(listener: () => void): () => void;
}
