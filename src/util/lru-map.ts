/** A map that keeps the `capacity` most recently used entries. */
export class LruMap<K, V> {
  readonly #capacity: number;
  readonly #entries = new Map<K, V>();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Counts as a use. */
  get(key: K): V | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    // A Map iterates in order of insertion: inserting anew makes it the most recent one.
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  /** Does not count as a use. */
  peek(key: K): V | undefined {
    return this.#entries.get(key);
  }

  /** Counts as a use; the least recently used entry leaves when there are too many. */
  set(key: K, value: V): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size <= this.#capacity) return;
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest);
      return;
    }
  }
}
