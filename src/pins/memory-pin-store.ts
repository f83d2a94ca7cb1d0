import type { Pin, PinPage, PinStore } from './pin-store.ts';
import { PinTable } from './pin-table.ts';

export interface MemoryPinStoreOptions {
  /** Most pins kept, at least 1; the least recently used one leaves for a new one. */
  readonly maxPins: number;
}

/** Pins of this process alone. Hot path. */
export class MemoryPinStore implements PinStore {
  readonly kind = 'memory';
  readonly away = false;
  readonly #table: PinTable;
  /** Writes so far. Versions are taken from it, so that a key that was forgotten never gets an old version back. */
  #writes = 0;

  constructor(options: MemoryPinStoreOptions) {
    this.#table = new PinTable(options);
  }

  get size(): number {
    return this.#table.size;
  }

  get evicted(): number {
    return this.#table.evicted;
  }

  get(key: string, now: number): Pin | undefined {
    const slot = this.#table.slotOf(key);
    if (slot < 0) return undefined;
    this.#table.use(slot, now);
    return this.#table.pinAt(slot);
  }

  peek(key: string): Pin | undefined {
    const slot = this.#table.slotOf(key);
    return slot < 0 ? undefined : this.#table.pinAt(slot);
  }

  idleMs(key: string, now: number): number | null {
    const slot = this.#table.slotOf(key);
    return slot < 0 ? null : now - this.#table.usedAt(slot);
  }

  fetch(key: string): Pin | undefined {
    return this.peek(key);
  }

  put(key: string, candidates: readonly string[], expectedVersion: number, now: number): Pin {
    let slot = this.#table.slotOf(key);
    if (slot < 0) slot = this.#table.insert(key, now);
    else if (this.#table.versionAt(slot) !== expectedVersion) return this.#table.pinAt(slot);
    else this.#table.use(slot, now);
    this.#table.write(slot, candidates, ++this.#writes);
    return this.#table.pinAt(slot);
  }

  touch(key: string, now: number): void {
    const slot = this.#table.slotOf(key);
    if (slot >= 0) this.#table.use(slot, now);
  }

  delete(key: string): boolean {
    const slot = this.#table.slotOf(key);
    if (slot < 0) return false;
    this.#table.remove(slot);
    return true;
  }

  sweep(now: number, maxIdleMs: number): number {
    return this.#table.sweep(now, maxIdleMs);
  }

  list(limit: number, cursor: string | null, now: number): PinPage {
    return this.#table.list(limit, cursor, now, () => false);
  }
}
