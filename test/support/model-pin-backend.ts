import type { PinBackend, PinChange, StoredPin, Written } from '../../src/pins/shared/pin-backend.ts';
import { isOfStore } from '../../src/pins/shared/store-clock.ts';

/** How long a deleted key keeps its version, so that late writes of earlier ones lose. */
const TOMBSTONE_MS = 3_600_000;

interface Slot {
  readonly pin: StoredPin;
  /** Milliseconds on the clock of the model; it is there up to and with that one. */
  readonly endsAt: number;
}

/** What a {@link ModelPins} held at a moment. */
export type ModelCopy = ReadonlyMap<string, Slot>;

/**
 * What the shared store does, in memory and synchronously: the meaning that the Lua scripts are compared with, and the store
 * of simulations. `publish` is called while the write is carried out, as PUBLISH in a script; whoever gives it decides when
 * and to whom the change gets. `now` is in milliseconds and may run backwards, as the clock of a server can.
 */
export class ModelPins {
  readonly #now: () => number;
  readonly #publish: (change: PinChange) => void;
  #slots = new Map<string, Slot>();

  constructor(now: () => number, publish: (change: PinChange) => void) {
    this.#now = now;
    this.#publish = publish;
  }

  /** Pins and traces of deleted ones. */
  get size(): number {
    for (const name of this.#slots.keys()) this.read(name);
    return this.#slots.size;
  }

  put(name: string, candidates: readonly string[], expectedVersion: number, ttlMs: number): Written {
    const stored = this.read(name);
    const expected = isOfStore(expectedVersion, this.#now()) ? expectedVersion : 0;
    if (stored !== null && stored.candidates.length > 0 && stored.version > expected) {
      this.touch(name, ttlMs);
      return { ...stored, won: false };
    }
    const pin = { candidates: [...candidates], version: this.#versionAbove(stored, expected) };
    this.#write(name, pin, ttlMs);
    if (stored !== null || expected > 0) this.#publish({ name, ...pin });
    return { ...pin, won: true };
  }

  offer(name: string, candidates: readonly string[], version: number, ttlMs: number): Written {
    if (!isOfStore(version, this.#now())) throw new Error('the version is ahead of the clock');
    const stored = this.read(name);
    if (stored !== null && stored.version >= version) return { ...stored, won: false };
    const pin = { candidates: [...candidates], version };
    this.#write(name, pin, ttlMs);
    this.#publish({ name, ...pin });
    return { ...pin, won: true };
  }

  touch(name: string, ttlMs: number): StoredPin | null {
    const stored = this.read(name);
    if (stored === null || stored.candidates.length === 0) return stored;
    const endsAt = this.#slots.get(name)?.endsAt ?? 0;
    const wanted = this.#end(ttlMs);
    if (endsAt === Number.POSITIVE_INFINITY || wanted > endsAt) this.#slots.set(name, { pin: stored, endsAt: wanted });
    return stored;
  }

  read(name: string): StoredPin | null {
    const slot = this.#slots.get(name);
    if (slot === undefined) return null;
    if (this.#now() <= slot.endsAt) return isOfStore(slot.pin.version, this.#now()) ? slot.pin : null;
    this.#slots.delete(name);
    return null;
  }

  remove(name: string): boolean {
    const stored = this.read(name);
    const pin = { candidates: [], version: this.#versionAbove(stored, 0) };
    this.#write(name, pin, TOMBSTONE_MS);
    this.#publish({ name, ...pin });
    return stored !== null && stored.candidates.length > 0;
  }

  /** All is lost: FLUSHALL, or a server without persistence that starts again. */
  wipe(): void {
    this.#slots.clear();
  }

  /** One key is lost: evicted from a full server. */
  evict(name: string): boolean {
    return this.#slots.delete(name);
  }

  /** For a later {@link restore}. */
  copy(): ModelCopy {
    return new Map(this.#slots);
  }

  /** Holds what it held at `copy` again: a failover to a server that had not got the last writes. */
  restore(copy: ModelCopy): void {
    this.#slots = new Map(copy);
  }

  #write(name: string, pin: StoredPin, ttlMs: number): void {
    this.#slots.set(name, { pin, endsAt: this.#end(ttlMs) });
  }

  #end(ttlMs: number): number {
    return ttlMs === 0 ? Number.POSITIVE_INFINITY : this.#now() + ttlMs;
  }

  #versionAbove(stored: StoredPin | null, expectedVersion: number): number {
    const least = Math.max(stored?.version ?? 0, expectedVersion) + 1;
    return Math.max(least, Math.floor(this.#now() * 1000));
  }
}

/** A {@link ModelPins} as a backend: a call is carried out at once, its answer comes in a later microtask. */
export class ModelPinBackend implements PinBackend {
  readonly pins: ModelPins;

  constructor(pins: ModelPins) {
    this.pins = pins;
  }

  put(name: string, candidates: readonly string[], expectedVersion: number, ttlMs: number): Promise<Written> {
    return Promise.resolve(this.pins.put(name, candidates, expectedVersion, ttlMs));
  }

  offer(name: string, candidates: readonly string[], version: number, ttlMs: number): Promise<Written> {
    // Refused as a rejection, as by a store.
    return new Promise((resolve) => resolve(this.pins.offer(name, candidates, version, ttlMs)));
  }

  touch(name: string, ttlMs: number): Promise<StoredPin | null> {
    return Promise.resolve(this.pins.touch(name, ttlMs));
  }

  read(name: string): Promise<StoredPin | null> {
    return Promise.resolve(this.pins.read(name));
  }

  remove(name: string): Promise<boolean> {
    return Promise.resolve(this.pins.remove(name));
  }
}
