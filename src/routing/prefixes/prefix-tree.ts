/** What a tree knows of one key. */
export interface PrefixMatch {
  /** Units (Unicode scalar values, or tokens) that the tree knows of the key's beginning, the namespace mark not counted. */
  readonly matched: number;
  /** Units of the key, the namespace mark not counted. */
  readonly total: number;
}

/**
 * Remembers which worker saw which prompts, by their beginnings (policies 1.6.5, 1.6.6). Its size never exceeds its cap,
 * and no call takes longer for what the tree holds: only for the key at hand, or by a bounded piece of work.
 */
export interface PrefixTree<K extends string | Uint32Array> {
  /** Registers a worker at the root. Without effect on one that is registered. */
  add(workerId: string): void;
  /**
   * Looks a key up; `holders` tells whose it is.
   *
   * @param uses by default true: that counts as a use of what it found, by the rules of the tree; else nothing changes
   */
  match(key: K, namespace: string | null, uses?: boolean): PrefixMatch;
  /** Ids of all workers that hold what the last `match` found, at the node where it ended; empty when it found nothing. */
  holders(): readonly string[];
  /**
   * The worker saw the key. Where the tree would exceed its cap, what was used least recently makes room, and only what finds
   * room is remembered: never more than the cap, and of a long key less where making room for all of it would take long.
   */
  insert(key: K, namespace: string | null, workerId: string): void;
  /** Removes a worker from the whole tree. It is gone from answers and sizes at once; its memory is freed by `sweep`. */
  forget(workerId: string): void;
  /** Units held, summed over workers. */
  readonly size: number;
  /** Workers that hold at least one unit. */
  readonly holderCount: number;
  /** Units that a worker holds. */
  sizeOf(workerId: string): number;
  /** Frees a bounded piece of what forgotten workers held: true when more is left. Inserts do their share too. */
  sweep(): boolean;
}
