import type { Pin, PinPage } from '../pin-store.ts';
import { PinTable } from '../pin-table.ts';
import { sameCandidates } from '../same-candidates.ts';
import { NameIndex } from './name-index.ts';
import type { StoredPin, Written } from './pin-backend.ts';

/** Gives a key the name that replicas share. */
export interface KeyNames {
  nameOf(key: string): string;
}

/** A write that the store was asked for. */
export interface Asked {
  readonly key: string;
  readonly candidates: readonly string[];
  /** The version here that it is to replace; 0: the key was not held. */
  readonly over: number;
  /** The use of the key that it tells of. */
  readonly usedAt: number;
}

/**
 * The pins that this replica holds of a shared store. A pin that the store gave has the store's version. One that only this
 * replica knows is provisional: its version is negative, and it remembers the version of the store that it was written over.
 */
export class HeldPins {
  readonly #table: PinTable;
  readonly #names: KeyNames;
  readonly #index = new NameIndex();
  /** Of provisional pins: the store's version they were written over, by key. */
  readonly #bases = new Map<string, number>();
  #provisionalWrites = 0;

  constructor(maxPins: number, names: KeyNames) {
    this.#names = names;
    this.#table = new PinTable({ maxPins, onRemove: (slot) => this.#left(slot) });
  }

  get size(): number {
    return this.#table.size;
  }

  get evicted(): number {
    return this.#table.evicted;
  }

  /** Keys of the pins that only this replica knows, the oldest first. */
  get provisional(): ReadonlyMap<string, unknown> {
    return this.#bases;
  }

  nameOf(key: string): string {
    return this.#names.nameOf(key);
  }

  /** -1 for a key that is not held. */
  slotOf(key: string): number {
    return this.#table.slotOf(key);
  }

  /** -1 for a name that is not held. */
  slotOfName(name: string): number {
    return this.#index.find(name, (slot) => this.#names.nameOf(this.#table.keyAt(slot)) === name);
  }

  keyAt(slot: number): string {
    return this.#table.keyAt(slot);
  }

  pinAt(slot: number): Pin {
    return this.#table.pinAt(slot);
  }

  /** Negative for a provisional pin. */
  versionAt(slot: number): number {
    return this.#table.versionAt(slot);
  }

  usedAt(slot: number): number {
    return this.#table.usedAt(slot);
  }

  /** The store's latest version that is known of the pin. */
  storeVersionAt(slot: number): number {
    const version = this.#table.versionAt(slot);
    return version > 0 ? version : (this.#bases.get(this.#table.keyAt(slot)) ?? 0);
  }

  use(slot: number, now: number): void {
    this.#table.use(slot, now);
  }

  /** A pin that the store does not know yet. Counts as a use. */
  writeProvisional(key: string, candidates: readonly string[], storeVersion: number, now: number): Pin {
    let slot = this.#table.slotOf(key);
    if (slot < 0) slot = this.#insert(key, now);
    else this.#table.use(slot, now);
    this.#table.write(slot, candidates, -++this.#provisionalWrites);
    if (!this.#bases.has(key)) this.#bases.set(key, storeVersion);
    return this.#table.pinAt(slot);
  }

  /**
   * What the store holds of a held pin: taken over when it is later than what is known here, or when it is what a
   * provisional pin was to become. A deleted one leaves. True when something changed.
   */
  learn(slot: number, stored: StoredPin): boolean {
    const known = this.storeVersionAt(slot);
    if (stored.version < known) return false;
    // One version for two values: the store lost a write, and its clock had stepped back. What it holds now counts.
    const another =
      this.#table.versionAt(slot) > 0 && !sameCandidates(this.#table.candidatesAt(slot), stored.candidates);
    if (stored.version === known && !another) return false;
    if (stored.candidates.length === 0) {
      this.#table.remove(slot);
      return true;
    }
    this.#bases.delete(this.#table.keyAt(slot));
    this.#table.write(slot, stored.candidates, stored.version);
    return true;
  }

  /**
   * The answer to a write. A pin that was written anew meanwhile, and that the store does not know yet, stays: it was written
   * over this one.
   */
  answered({ key, candidates, over, usedAt }: Asked, written: Written): void {
    const slot = this.#table.slotOf(key);
    if (slot < 0) {
      if (written.candidates.length > 0)
        this.#table.write(this.#insert(key, usedAt), written.candidates, written.version);
      return;
    }
    if (written.won && usedAt > this.#table.usedAt(slot)) this.#table.use(slot, usedAt);
    const version = this.#table.versionAt(slot);
    const anew = version < 0 && version !== over && !sameCandidates(this.#table.candidatesAt(slot), candidates);
    if (anew && written.won) {
      if (written.version > this.storeVersionAt(slot)) this.#bases.set(key, written.version);
      return;
    }
    this.learn(slot, written);
  }

  /** A version that the store cannot have given: it is told as if it had never been. */
  disown(slot: number): void {
    this.#bases.set(this.#table.keyAt(slot), 0);
    if (this.#table.versionAt(slot) > 0)
      this.#table.write(slot, this.#table.candidatesAt(slot), -++this.#provisionalWrites);
  }

  /** A provisional pin comes last among its like. */
  postpone(key: string): void {
    const base = this.#bases.get(key);
    if (base === undefined) return;
    this.#bases.delete(key);
    this.#bases.set(key, base);
  }

  remove(slot: number): void {
    this.#table.remove(slot);
  }

  sweep(now: number, maxIdleMs: number): number {
    return this.#table.sweep(now, maxIdleMs);
  }

  list(limit: number, cursor: string | null, now: number): PinPage {
    return this.#table.list(limit, cursor, now, (version) => version > 0);
  }

  /** At most `most` keys of pins used after `since`, the last one first. */
  keysUsedAfter(since: number, most: number): string[] {
    return this.#table.usedAfter(since, most).map((slot) => this.#table.keyAt(slot));
  }

  /** Begins a walk over all pins, those used last first, in place of one that runs. */
  beginWalk(): void {
    this.#table.beginWalk();
  }

  /** The next key of the walk, null at its end: at the first one not used after `since`. A pin used meanwhile may be left out. */
  walk(since: number): string | null {
    const slot = this.#table.walk(since);
    return slot < 0 ? null : this.#table.keyAt(slot);
  }

  #insert(key: string, now: number): number {
    const slot = this.#table.insert(key, now);
    this.#index.add(this.#names.nameOf(key), slot);
    return slot;
  }

  #left(slot: number): void {
    this.#index.remove(slot);
    this.#bases.delete(this.#table.keyAt(slot));
  }
}
