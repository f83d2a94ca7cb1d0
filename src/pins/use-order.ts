const NONE = -1;
const FIRST_CAPACITY = 1024;

/**
 * Slots in the order of their last use: a doubly linked list in two columns, so that a use costs a few writes and no object.
 *
 *     newest ⇄ … ⇄ oldest        free slots hang on `next` alone
 *
 * Hot path.
 */
export class UseOrder {
  #next = new Int32Array(FIRST_CAPACITY);
  #previous = new Int32Array(FIRST_CAPACITY);
  #free = NONE;
  #used = 0;
  /** Where a walk goes on. A slot that is used or dropped meanwhile hands it to the next older one. */
  #walk = NONE;

  /** The slot used last, -1 when there is none. */
  newest = NONE;
  /** The slot not used for the longest time, -1 when there is none. */
  oldest = NONE;

  /** Slots handed out so far, free ones included: the length of any column beside this one. */
  get length(): number {
    return this.#used;
  }

  /** A slot, as the newest. */
  take(): number {
    let slot = this.#free;
    if (slot === NONE) {
      slot = this.#used++;
      if (slot === this.#next.length) this.#grow();
    } else {
      this.#free = this.#next[slot] ?? NONE;
    }
    this.#link(slot);
    return slot;
  }

  /** Makes a slot in use the newest. */
  use(slot: number): void {
    if (slot === this.newest) return;
    this.#unlink(slot);
    this.#link(slot);
  }

  /** Gives a slot in use back. */
  drop(slot: number): void {
    this.#unlink(slot);
    this.#next[slot] = this.#free;
    this.#free = slot;
  }

  /** The slot used before this one, -1 after the oldest. */
  older(slot: number): number {
    return this.#next[slot] ?? NONE;
  }

  /** Begins a walk from the newest to the oldest, in place of one that runs. */
  beginWalk(): void {
    this.#walk = this.newest;
  }

  /** The next slot of the walk, -1 at its end. A slot that is used while the walk runs may be left out. */
  walk(): number {
    const slot = this.#walk;
    if (slot !== NONE) this.#walk = this.older(slot);
    return slot;
  }

  #link(slot: number): void {
    this.#previous[slot] = NONE;
    this.#next[slot] = this.newest;
    if (this.newest === NONE) this.oldest = slot;
    else this.#previous[this.newest] = slot;
    this.newest = slot;
  }

  #unlink(slot: number): void {
    const before = this.#previous[slot] ?? NONE;
    const after = this.#next[slot] ?? NONE;
    if (slot === this.#walk) this.#walk = after;
    if (before === NONE) this.newest = after;
    else this.#next[before] = after;
    if (after === NONE) this.oldest = before;
    else this.#previous[after] = before;
  }

  #grow(): void {
    this.#next = grown(this.#next);
    this.#previous = grown(this.#previous);
  }
}

function grown(column: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(column.length * 2);
  larger.set(column);
  return larger;
}
