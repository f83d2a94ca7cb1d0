import type { Pin, PinEntry, PinPage, PinStore } from '../../../src/pins/pin-store.ts';
import type { SharedPinStore } from '../../../src/pins/shared/shared-pin-store.ts';

/** The pins of a replica, and what was asked of them. */
export class WatchedPins implements PinStore {
  readonly kind = 'redis';
  readonly store: SharedPinStore;
  /** The pin that a key was last seen with, by whoever decides. */
  readonly seen = new Map<string, Pin>();
  /** Versions that keys were seen with since this was cleared; 0: in vain. */
  readonly recent = new Map<string, number[]>();
  /** Keys with a put that is waited for, and how many. */
  readonly waiting = new Map<string, number>();
  /** Writes that were asked for: key, version that was expected, candidates. */
  readonly asked = new Set<string>();
  readonly #waited: (key: string, ms: number) => void;
  readonly #clock: () => number;

  constructor(store: SharedPinStore, clock: () => number, waited: (key: string, ms: number) => void) {
    this.store = store;
    this.#clock = clock;
    this.#waited = waited;
  }

  get(key: string, now: number): Pin | undefined {
    return this.#saw(key, this.store.get(key, now));
  }

  peek(key: string): Pin | undefined {
    return this.store.peek(key);
  }

  idleMs(key: string, now: number): number | null {
    return this.store.idleMs(key, now);
  }

  put(key: string, candidates: readonly string[], expected: number, now: number): Pin | Promise<Pin> {
    this.asked.add(writeOf(key, expected, candidates));
    const pin = this.store.put(key, candidates, expected, now);
    if (!(pin instanceof Promise)) return this.#saw(key, pin);
    const start = this.#clock();
    this.waiting.set(key, (this.waiting.get(key) ?? 0) + 1);
    return pin.then((held) => {
      this.waiting.set(key, (this.waiting.get(key) ?? 0) - 1);
      this.#waited(key, this.#clock() - start);
      return this.#saw(key, held);
    });
  }

  touch(key: string, now: number): void {
    this.store.touch(key, now);
  }

  delete(key: string): Promise<boolean> {
    return this.store.delete(key);
  }

  fetch(key: string): Promise<Pin | undefined> {
    return this.store.fetch(key);
  }

  sweep(now: number, maxIdleMs: number): number {
    return this.store.sweep(now, maxIdleMs);
  }

  list(limit: number, cursor: string | null, now: number): PinPage {
    return this.store.list(limit, cursor, now);
  }

  get entries(): readonly PinEntry[] {
    return this.store.list(1_000_000, null, this.#clock()).pins;
  }

  get away(): boolean {
    return this.store.away;
  }

  get size(): number {
    return this.store.size;
  }

  get evicted(): number {
    return this.store.evicted;
  }

  #saw<P extends Pin | undefined>(key: string, pin: P): P {
    if (pin !== undefined) this.seen.set(key, pin);
    const recent = this.recent.get(key) ?? [];
    recent.push(pin?.version ?? 0);
    this.recent.set(key, recent);
    return pin;
  }
}

export function writeOf(key: string, expected: number, candidates: readonly string[]): string {
  return `${key} ${expected} ${candidates}`;
}
