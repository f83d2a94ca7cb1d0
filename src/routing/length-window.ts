/** What a bucket has had lately, in characters or tokens. */
export interface Tally {
  sum: number;
}

interface Entry {
  readonly length: number;
  readonly at: number;
  readonly tally: Tally;
}

/** Requests that the window holds at most; with more in one interval, the newest count. */
const MOST_ENTRIES = 4096;

/** The requests of the last interval with their lengths, and the tallies that they count on. */
export class LengthWindow {
  readonly #interval: number;
  /** Oldest at `#first`; what stands before it is gone. */
  #entries: (Entry | undefined)[] = [];
  #first = 0;
  #total = 0;

  /** @param interval milliseconds that a request counts for */
  constructor(interval: number) {
    this.#interval = interval;
  }

  /** @param tallies gets the copy of each tally that an entry counts on */
  copy(tallies: Map<Tally, Tally>): LengthWindow {
    const copy = new LengthWindow(this.#interval);
    copy.#total = this.#total;
    for (const entry of this.#entries.slice(this.#first)) {
      if (entry === undefined) continue;
      const tally = tallies.get(entry.tally) ?? { sum: entry.tally.sum };
      tallies.set(entry.tally, tally);
      copy.#entries.push({ length: entry.length, at: entry.at, tally });
    }
    return copy;
  }

  /** Sum of all lengths. */
  get total(): number {
    return this.#total;
  }

  get size(): number {
    return this.#entries.length - this.#first;
  }

  add(length: number, now: number, tally: Tally): void {
    if (this.size === MOST_ENTRIES) this.#drop();
    this.#entries.push({ length, at: now, tally });
    this.#total += length;
    tally.sum += length;
  }

  expire(now: number): void {
    while (this.#first < this.#entries.length && now - (this.#entries[this.#first]?.at ?? 0) > this.#interval) {
      this.#drop();
    }
  }

  /** Ascending. */
  sortedLengths(): Float64Array {
    return Float64Array.from({ length: this.size }, (_, i) => this.#entries[this.#first + i]?.length ?? 0).sort();
  }

  #drop(): void {
    const entry = this.#entries[this.#first];
    if (entry === undefined) return;
    entry.tally.sum -= entry.length;
    this.#total -= entry.length;
    this.#entries[this.#first++] = undefined;
    if (this.#first < MOST_ENTRIES) return;
    this.#entries = this.#entries.slice(this.#first);
    this.#first = 0;
  }
}
