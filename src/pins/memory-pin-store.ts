/**
 * Pins in process memory, in columns instead of one object each: a million pins take about 80 bytes each beside their keys, and
 * the garbage collector has little to walk. Hot path.
 */
import { CandidateLists, type SharedList } from './candidate-lists.ts';
import { KeyIndex } from './key-index.ts';
import type { Pin, PinEntry, PinPage, PinStore } from './pin-store.ts';
import { UseOrder } from './use-order.ts';

export interface MemoryPinStoreOptions {
  /** Most pins kept, at least 1; the least recently used one leaves for a new one. */
  readonly maxPins: number;
}

/** Removals of one sweep: about a millisecond of work. */
const SWEEP_BATCH = 2_000;
const FIRST_CAPACITY = 1024;

export class MemoryPinStore implements PinStore {
  readonly away = false;
  readonly #maxPins: number;
  readonly #slots = new KeyIndex();
  readonly #order = new UseOrder();
  readonly #lists = new CandidateLists();

  // Columns by slot. A slot whose list is null is free.
  readonly #keyAt: string[] = [];
  readonly #listAt: (SharedList | null)[] = [];
  #versionAt = new Float64Array(FIRST_CAPACITY);
  #usedAt = new Float64Array(FIRST_CAPACITY);

  /** Writes so far. Versions are taken from it, so that a key that was forgotten never gets an old version back. */
  #writes = 0;
  #count = 0;
  #evictions = 0;

  constructor(options: MemoryPinStoreOptions) {
    this.#maxPins = Math.max(1, options.maxPins);
  }

  get size(): number {
    return this.#count;
  }

  get evicted(): number {
    return this.#evictions;
  }

  get(key: string, now: number): Pin | undefined {
    const slot = this.#slots.get(key);
    if (slot === undefined) return undefined;
    this.#use(slot, now);
    return this.#pinAt(slot);
  }

  peek(key: string): Pin | undefined {
    const slot = this.#slots.get(key);
    return slot === undefined ? undefined : this.#pinAt(slot);
  }

  put(key: string, candidates: readonly string[], expectedVersion: number, now: number): Pin {
    let slot = this.#slots.get(key);
    if (slot === undefined) {
      slot = this.#insert(key);
    } else {
      if (this.#versionAt[slot] !== expectedVersion) return this.#pinAt(slot);
      this.#releaseList(slot);
    }
    this.#listAt[slot] = this.#lists.acquire(candidates);
    this.#versionAt[slot] = ++this.#writes;
    this.#use(slot, now);
    return this.#pinAt(slot);
  }

  touch(key: string, now: number): void {
    const slot = this.#slots.get(key);
    if (slot !== undefined) this.#use(slot, now);
  }

  delete(key: string): boolean {
    const slot = this.#slots.get(key);
    if (slot === undefined) return false;
    this.#remove(slot);
    return true;
  }

  fetch(key: string): Pin | undefined {
    return this.peek(key);
  }

  sweep(now: number, maxIdleMs: number): number {
    if (maxIdleMs <= 0) return 0;
    let removed = 0;
    while (removed < SWEEP_BATCH) {
      const slot = this.#order.oldest;
      if (slot < 0 || now - (this.#usedAt[slot] ?? 0) < maxIdleMs) break;
      this.#remove(slot);
      removed++;
    }
    return removed;
  }

  /** The cursor is the slot to go on from: a pin keeps its slot as long as it is stored. */
  list(limit: number, cursor: string | null, now: number): PinPage {
    const pins: PinEntry[] = [];
    const start = cursor === null ? 0 : Number(cursor);
    if (!Number.isSafeInteger(start) || start < 0) return { pins, cursor: null };
    const most = Math.max(1, limit);
    for (let slot = start; slot < this.#order.length; slot++) {
      const list = this.#listAt[slot] ?? null;
      if (list === null) continue;
      if (pins.length === most) return { pins, cursor: String(slot) };
      pins.push({
        key: this.#keyAt[slot] ?? '',
        candidates: list.ids,
        version: this.#versionAt[slot] ?? 0,
        idleMs: now - (this.#usedAt[slot] ?? 0),
        shared: false,
      });
    }
    return { pins, cursor: null };
  }

  #insert(key: string): number {
    if (this.#count >= this.#maxPins) {
      this.#remove(this.#order.oldest);
      this.#evictions++;
    }
    const slot = this.#order.take();
    if (slot === this.#versionAt.length) {
      this.#versionAt = grown(this.#versionAt);
      this.#usedAt = grown(this.#usedAt);
    }
    this.#slots.set(key, slot);
    this.#keyAt[slot] = key;
    this.#count++;
    return slot;
  }

  #remove(slot: number): void {
    this.#slots.delete(this.#keyAt[slot] ?? '');
    this.#releaseList(slot);
    this.#listAt[slot] = null;
    this.#keyAt[slot] = '';
    this.#order.drop(slot);
    this.#count--;
  }

  #releaseList(slot: number): void {
    const list = this.#listAt[slot] ?? null;
    if (list !== null) this.#lists.release(list);
  }

  #use(slot: number, now: number): void {
    this.#usedAt[slot] = now;
    this.#order.use(slot);
  }

  #pinAt(slot: number): Pin {
    return { candidates: this.#listAt[slot]?.ids ?? [], version: this.#versionAt[slot] ?? 0 };
  }
}

function grown(column: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(column.length * 2);
  larger.set(column);
  return larger;
}
