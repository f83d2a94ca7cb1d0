/**
 * Which workers saw prompts with the same head, cut at fixed lengths (policies 1.6.7). In columns, as the pin store, and for
 * the same reasons. Hot path.
 */
import { KeyIndex } from '../../pins/key-index.ts';
import { UseOrder } from '../../pins/use-order.ts';
import { xxh3OfIds } from '../../util/xxh3.ts';
import { WorkerNumbers } from './worker-numbers.ts';

export interface BoundaryIndexOptions {
  /** How long a holder counts after the last prompt it got, in milliseconds. */
  readonly ttlMs: number;
  /** Most heads remembered, at least 1; the one not seen for the longest time leaves for a new one. */
  readonly maxEntries: number;
}

/** Holders of one head; the one that was sent to least recently leaves for a fourth. */
const PLACES = 3;
/** Removals of one sweep: about a millisecond of work. */
const SWEEP_BATCH = 2_000;
const FIRST_CAPACITY = 1024;
const EMPTY = -1;

const NO_KEYS: readonly string[] = [];

/**
 * Keys of the heads of a prompt, shortest first: one for each boundary that it reaches. A namespace is a part of the key, so
 * that no prompt can reach into another's.
 *
 * @param boundaries ascending
 */
export function headKeys(
  boundaries: readonly number[],
  tokens: Uint32Array,
  namespace: string | null,
): readonly string[] {
  let keys: string[] | null = null;
  for (const boundary of boundaries) {
    if (boundary > tokens.length) break;
    keys ??= [];
    keys.push(`${boundary}:${namespace ?? ''}:${xxh3OfIds(tokens, boundary)}`);
  }
  return keys ?? NO_KEYS;
}

export class BoundaryIndex {
  readonly #ttlMs: number;
  readonly #maxEntries: number;
  readonly #slots = new KeyIndex();
  /** By the last touch, so that what has expired is found at its end. */
  readonly #order = new UseOrder();
  readonly #numbers: WorkerNumbers;

  // Columns by slot, and by slot times PLACES.
  readonly #keyAt: string[] = [];
  #touchedAt = new Float64Array(FIRST_CAPACITY);
  #holderAt = new Int32Array(FIRST_CAPACITY * PLACES).fill(EMPTY);
  #heldAt = new Float64Array(FIRST_CAPACITY * PLACES);

  #size = 0;

  constructor({ ttlMs, maxEntries }: BoundaryIndexOptions) {
    this.#ttlMs = ttlMs;
    this.#maxEntries = Math.max(1, maxEntries);
    // No place outlives its time to live, so that a number may then stand for another worker.
    this.#numbers = new WorkerNumbers(ttlMs);
  }

  /** Heads remembered, expired ones included until the sweep. */
  get size(): number {
    return this.#size;
  }

  /** Ids of the workers that got a prompt with this head within the time to live. */
  holders(key: string, now: number): readonly string[] {
    const slot = this.#slots.get(key);
    if (slot === undefined) return NO_KEYS;
    const found: string[] = [];
    for (let place = slot * PLACES; place < (slot + 1) * PLACES; place++) {
      if (now - (this.#heldAt[place] ?? 0) > this.#ttlMs) continue;
      const id = this.#numbers.idOf(this.#holderAt[place] ?? EMPTY);
      if (id !== null) found.push(id);
    }
    return found;
  }

  /** A prompt with this head went to the worker. */
  record(key: string, workerId: string, now: number): void {
    const slot = this.#slots.get(key) ?? this.#insert(key);
    const number = this.#numbers.of(workerId, now);
    const place = this.#placeFor(slot, number);
    this.#holderAt[place] = number;
    this.#heldAt[place] = now;
    this.#touchedAt[slot] = now;
    this.#order.use(slot);
  }

  /** A prompt with all these heads went to the worker. */
  recordAll(keys: readonly string[], workerId: string, now: number): void {
    for (let i = 0; i < keys.length; i++) this.record(keys[i] ?? '', workerId, now);
  }

  /** The worker holds nothing from now on. Heads that it alone held expire with their time to live. */
  forget(workerId: string, now: number): void {
    this.#numbers.release(workerId, now);
  }

  /** Removes a bounded number of expired heads: true when more are left. */
  sweep(now: number): boolean {
    for (let removed = 0; removed < SWEEP_BATCH; removed++) {
      const slot = this.#order.oldest;
      if (slot < 0 || now - (this.#touchedAt[slot] ?? 0) <= this.#ttlMs) return false;
      this.#remove(slot);
    }
    return true;
  }

  /** The worker's own place, else one that nobody holds, else the one held for the longest time. */
  #placeFor(slot: number, number: number): number {
    let best = slot * PLACES;
    let oldest = Number.POSITIVE_INFINITY;
    for (let place = slot * PLACES; place < (slot + 1) * PLACES; place++) {
      const holder = this.#holderAt[place] ?? EMPTY;
      if (holder === number) return place;
      const heldAt = this.#numbers.idOf(holder) === null ? Number.NEGATIVE_INFINITY : (this.#heldAt[place] ?? 0);
      if (heldAt >= oldest) continue;
      best = place;
      oldest = heldAt;
    }
    return best;
  }

  #insert(key: string): number {
    if (this.#size >= this.#maxEntries) this.#remove(this.#order.oldest);
    const slot = this.#order.take();
    if (slot === this.#touchedAt.length) this.#grow();
    this.#holderAt.fill(EMPTY, slot * PLACES, (slot + 1) * PLACES);
    this.#slots.set(key, slot);
    this.#keyAt[slot] = key;
    this.#size++;
    return slot;
  }

  #remove(slot: number): void {
    this.#slots.delete(this.#keyAt[slot] ?? '');
    this.#keyAt[slot] = '';
    this.#order.drop(slot);
    this.#size--;
  }

  #grow(): void {
    const capacity = this.#touchedAt.length * 2;
    const touchedAt = new Float64Array(capacity);
    const holderAt = new Int32Array(capacity * PLACES);
    const heldAt = new Float64Array(capacity * PLACES);
    touchedAt.set(this.#touchedAt);
    holderAt.set(this.#holderAt);
    heldAt.set(this.#heldAt);
    this.#touchedAt = touchedAt;
    this.#holderAt = holderAt;
    this.#heldAt = heldAt;
  }
}
