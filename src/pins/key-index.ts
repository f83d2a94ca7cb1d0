const SHARDS = 64;

/**
 * Map of pin keys to slots, spread over many maps: a map that doubles moves all its entries at once, and one map of a
 * million keys would stop the process for 100 ms. Hot path.
 */
export class KeyIndex {
  readonly #shards: readonly Map<string, number>[] = Array.from({ length: SHARDS }, () => new Map());

  get(key: string): number | undefined {
    return this.#shard(key).get(key);
  }

  set(key: string, slot: number): void {
    this.#shard(key).set(key, slot);
  }

  delete(key: string): void {
    this.#shard(key).delete(key);
  }

  /** By the last characters, where keys differ most. An uneven spread only makes some of the maps larger. */
  #shard(key: string): Map<string, number> {
    const end = key.length - 1;
    let mixed = key.length;
    for (let i = end; i >= 0 && i > end - 6; i--) mixed = (Math.imul(mixed, 31) + key.charCodeAt(i)) | 0;
    mixed ^= mixed >>> 12;
    mixed ^= mixed >>> 6;
    // The mask keeps the index within the shards.
    return this.#shards[mixed & (SHARDS - 1)] as Map<string, number>;
  }
}
