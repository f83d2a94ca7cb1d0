/**
 * Pins in columns instead of one object each: a million pins take about 80 bytes each beside their keys, and the garbage
 * collector has little to walk. A pin is known by its slot, which stays the same as long as it is stored. Hot path.
 */
import { CandidateLists, type SharedList } from './candidate-lists.ts';
import { KeyIndex } from './key-index.ts';
import type { Pin, PinEntry, PinPage } from './pin-store.ts';
import { UseOrder } from './use-order.ts';

export interface PinTableOptions {
  /** Most pins kept, at least 1; the least recently used one leaves for a new one. */
  readonly maxPins: number;
  /** Told of a pin that leaves, while it can still be read. */
  readonly onRemove?: (slot: number) => void;
}

/** Removals of one sweep: about a millisecond of work. */
const SWEEP_BATCH = 2_000;
const FIRST_CAPACITY = 1024;
const NOTHING = (): void => {};

export class PinTable {
  readonly #maxPins: number;
  readonly #onRemove: (slot: number) => void;
  readonly #slots = new KeyIndex();
  readonly #order = new UseOrder();
  readonly #lists = new CandidateLists();

  // Columns by slot. A slot whose list is null is free.
  readonly #keyAt: string[] = [];
  readonly #listAt: (SharedList | null)[] = [];
  #versionAt = new Float64Array(FIRST_CAPACITY);
  #usedAt = new Float64Array(FIRST_CAPACITY);

  #count = 0;
  #evictions = 0;

  constructor(options: PinTableOptions) {
    this.#maxPins = Math.max(1, options.maxPins);
    this.#onRemove = options.onRemove ?? NOTHING;
  }

  get size(): number {
    return this.#count;
  }

  /** Pins that left because the table was full. */
  get evicted(): number {
    return this.#evictions;
  }

  /** -1 for a key that is not stored. */
  slotOf(key: string): number {
    return this.#slots.get(key) ?? -1;
  }

  keyAt(slot: number): string {
    return this.#keyAt[slot] ?? '';
  }

  versionAt(slot: number): number {
    return this.#versionAt[slot] ?? 0;
  }

  /** In the clock of the uses. */
  usedAt(slot: number): number {
    return this.#usedAt[slot] ?? 0;
  }

  candidatesAt(slot: number): readonly string[] {
    return this.#listAt[slot]?.ids ?? NOBODY;
  }

  pinAt(slot: number): Pin {
    return { candidates: this.candidatesAt(slot), version: this.versionAt(slot) };
  }

  use(slot: number, now: number): void {
    this.#usedAt[slot] = now;
    this.#order.use(slot);
  }

  /** A slot for a key that is not stored, used now; to be written next. */
  insert(key: string, now: number): number {
    if (this.#count >= this.#maxPins) {
      this.remove(this.#order.oldest);
      this.#evictions++;
    }
    const slot = this.#order.take();
    if (slot === this.#versionAt.length) {
      this.#versionAt = grown(this.#versionAt);
      this.#usedAt = grown(this.#usedAt);
    }
    this.#slots.set(key, slot);
    this.#keyAt[slot] = key;
    this.#listAt[slot] = null;
    this.#usedAt[slot] = now;
    this.#count++;
    return slot;
  }

  write(slot: number, candidates: readonly string[], version: number): void {
    const list = this.#lists.acquire(candidates);
    this.#releaseList(slot);
    this.#listAt[slot] = list;
    this.#versionAt[slot] = version;
  }

  remove(slot: number): void {
    this.#onRemove(slot);
    this.#slots.delete(this.keyAt(slot));
    this.#releaseList(slot);
    this.#listAt[slot] = null;
    this.#keyAt[slot] = '';
    this.#order.drop(slot);
    this.#count--;
  }

  /** See `PinStore`. */
  sweep(now: number, maxIdleMs: number): number {
    if (maxIdleMs <= 0) return 0;
    let removed = 0;
    while (removed < SWEEP_BATCH) {
      const slot = this.#order.oldest;
      if (slot < 0 || now - this.usedAt(slot) < maxIdleMs) break;
      this.remove(slot);
      removed++;
    }
    return removed;
  }

  /** See `PinStore`. The cursor is the slot to go on from. A version above 0 means `shared` where the store is a shared one. */
  list(limit: number, cursor: string | null, now: number, isShared: (version: number) => boolean): PinPage {
    const pins: PinEntry[] = [];
    const start = cursor === null ? 0 : Number(cursor);
    if (!Number.isSafeInteger(start) || start < 0) return { pins, cursor: null };
    const most = Math.max(1, limit);
    for (let slot = start; slot < this.#order.length; slot++) {
      const list = this.#listAt[slot] ?? null;
      if (list === null) continue;
      if (pins.length === most) return { pins, cursor: String(slot) };
      const version = this.versionAt(slot);
      pins.push({
        key: this.keyAt(slot),
        candidates: list.ids,
        version,
        idleMs: now - this.usedAt(slot),
        shared: isShared(version),
      });
    }
    return { pins, cursor: null };
  }

  /** At most `most` slots used after `since`, the last one first. */
  usedAfter(since: number, most: number): number[] {
    const slots: number[] = [];
    let slot = this.#order.newest;
    while (slot >= 0 && slots.length < most && this.usedAt(slot) > since) {
      slots.push(slot);
      slot = this.#order.older(slot);
    }
    return slots;
  }

  /** Begins a walk over all pins, those used last first, in place of one that runs. */
  beginWalk(): void {
    this.#order.beginWalk();
  }

  /** The next slot of the walk, -1 at its end: at the first one not used after `since`. A pin used meanwhile may be left out. */
  walk(since: number): number {
    const slot = this.#order.walk();
    return slot >= 0 && this.usedAt(slot) > since ? slot : -1;
  }

  #releaseList(slot: number): void {
    const list = this.#listAt[slot] ?? null;
    if (list !== null) this.#lists.release(list);
  }
}

const NOBODY: readonly string[] = [];

function grown(column: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(column.length * 2);
  larger.set(column);
  return larger;
}
