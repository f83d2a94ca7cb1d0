import { type FloatColumn, IntColumn, NONE, type Records } from './columns.ts';

/**
 * Entries by epoch, smallest on top: a heap in which each node has four below it. An entry knows its place, so that one
 * whose epoch changes is moved at once and the heap never holds more than what is in it. Hot path.
 */
export class EpochHeap {
  readonly #order = new IntColumn();
  readonly #entries: Records;
  readonly #placeField: number;
  readonly #epochs: FloatColumn;
  #size = 0;

  /** Keeps the place of an entry in `placeField` of its record, which must be `NONE` before it is pushed. */
  constructor(entries: Records, placeField: number, epochs: FloatColumn) {
    this.#entries = entries;
    this.#placeField = placeField;
    this.#epochs = epochs;
  }

  /** The entry with the smallest epoch, `NONE` when empty. */
  get top(): number {
    return this.#size === 0 ? NONE : this.#order.get(0);
  }

  has(entry: number): boolean {
    return this.#entries.get(entry, this.#placeField) !== NONE;
  }

  push(entry: number): void {
    const place = this.#size++;
    this.#order.reach(place);
    this.#up(place, entry);
  }

  /** Takes an entry out that is in. */
  remove(entry: number): void {
    const place = this.#entries.get(entry, this.#placeField);
    this.#entries.set(entry, this.#placeField, NONE);
    const last = this.#order.get(--this.#size);
    if (last === entry) return;
    if (this.#epochs.get(last) < this.#epochs.get(entry)) this.#up(place, last);
    else this.#down(place, last);
  }

  /** To be told when the epoch of an entry in the heap has grown. */
  grown(entry: number): void {
    this.#down(this.#entries.get(entry, this.#placeField), entry);
  }

  #put(place: number, entry: number): void {
    this.#order.set(place, entry);
    this.#entries.set(entry, this.#placeField, place);
  }

  #up(from: number, entry: number): void {
    const epoch = this.#epochs.get(entry);
    let place = from;
    while (place > 0) {
      const above = (place - 1) >> 2;
      const other = this.#order.get(above);
      if (this.#epochs.get(other) <= epoch) break;
      this.#put(place, other);
      place = above;
    }
    this.#put(place, entry);
  }

  #down(from: number, entry: number): void {
    const epoch = this.#epochs.get(entry);
    let place = from;
    for (;;) {
      const first = place * 4 + 1;
      const end = Math.min(first + 4, this.#size);
      let least = entry;
      let leastEpoch = epoch;
      let leastPlace = place;
      for (let below = first; below < end; below++) {
        const other = this.#order.get(below);
        const otherEpoch = this.#epochs.get(other);
        if (otherEpoch < leastEpoch) {
          least = other;
          leastEpoch = otherEpoch;
          leastPlace = below;
        }
      }
      if (leastPlace === place) break;
      this.#put(place, least);
      place = leastPlace;
    }
    this.#put(place, entry);
  }
}
