/** A list of candidates that all pins with the same workers in the same order share. */
export interface SharedList {
  readonly ids: readonly string[];
  readonly name: string;
  /** Pins that refer to it. */
  uses: number;
}

/**
 * Keeps each distinct candidate list once. A million pins name few workers, so a pin need not carry arrays of its own. A list
 * leaves with its last pin, so that workers that come and go leave nothing behind.
 */
export class CandidateLists {
  readonly #byName = new Map<string, SharedList>();

  get size(): number {
    return this.#byName.size;
  }

  /** The shared list equal to `ids`, used once more. */
  acquire(ids: readonly string[]): SharedList {
    // A worker id is a URL and holds no line feed.
    const name = ids.join('\n');
    let list = this.#byName.get(name);
    if (list === undefined) {
      list = { ids: Object.freeze(ids.slice()), name, uses: 0 };
      this.#byName.set(name, list);
    }
    list.uses++;
    return list;
  }

  release(list: SharedList): void {
    list.uses--;
    if (list.uses === 0) this.#byName.delete(list.name);
  }
}
