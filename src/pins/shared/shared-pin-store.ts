/**
 * Pins that all replicas share (decisions 6). What this replica holds answers look-ups at once; the store is asked about a
 * new key and about a move, and is waited for no longer than the bound.
 */
import type { Timers } from '../../util/timers.ts';
import { type Pin, type PinPage, type PinStore, PinStoreAway } from '../pin-store.ts';
import { sameCandidates } from '../same-candidates.ts';
import { HeldPins, type KeyNames } from './held-pins.ts';
import { PendingPut, PendingPuts } from './pending-puts.ts';
import type { PinBackend, PinChange, StoreLink, Written } from './pin-backend.ts';
import { PinLifetime } from './pin-lifetime.ts';
import type { SharedPinObserver } from './pin-observer.ts';
import { PinSync } from './pin-sync.ts';

export interface SharedPinStoreParts {
  readonly backend: PinBackend;
  readonly link: StoreLink;
  readonly names: KeyNames;
  readonly observer: SharedPinObserver;
  readonly timers: Timers;
  /** Milliseconds, monotonic: the clock of every `now`. */
  readonly clock: () => number;
}

export interface SharedPinStoreOptions {
  /** Most pins held in this process; the store has no bound of ours. */
  readonly maxPins: number;
  /** `--max-idle-secs`, in milliseconds; 0: pins never expire. */
  readonly maxIdleMs: number;
  /** `--pin-claim-timeout-ms`; 0: the store is never waited for. */
  readonly claimTimeoutMs: number;
}

export class SharedPinStore implements PinStore {
  readonly kind = 'redis';
  readonly #parts: SharedPinStoreParts;
  readonly #held: HeldPins;
  readonly #sync: PinSync;
  readonly #pending: PendingPuts;
  readonly #lifetime: PinLifetime;
  readonly #ends: (() => void)[];
  #claimTimeoutMs: number;

  constructor(parts: SharedPinStoreParts, options: SharedPinStoreOptions) {
    const { link, timers, clock } = parts;
    this.#parts = parts;
    this.#claimTimeoutMs = options.claimTimeoutMs;
    this.#lifetime = new PinLifetime(options.maxIdleMs);
    this.#held = new HeldPins(options.maxPins, parts.names);
    this.#sync = new PinSync({ ...parts, held: this.#held, lifetime: this.#lifetime });
    this.#pending = new PendingPuts(timers, clock, (put) => this.#tooLate(put));
    this.#ends = [
      link.onChange((change) => this.#changed(change)),
      link.onGap(() => this.#sync.compareAll()),
      link.onState(() => this.#sync.stateChanged()),
    ];
  }

  /** Of a reload. */
  configure({ maxIdleMs, claimTimeoutMs }: Omit<SharedPinStoreOptions, 'maxPins'>): void {
    this.#claimTimeoutMs = claimTimeoutMs;
    if (maxIdleMs === this.#lifetime.maxIdleMs) return;
    this.#lifetime.maxIdleMs = maxIdleMs;
    this.#sync.reschedule();
  }

  get size(): number {
    return this.#held.size;
  }

  get evicted(): number {
    return this.#held.evicted;
  }

  get away(): boolean {
    return this.#parts.link.state === 'down';
  }

  /** Pins that only this replica knows, until the store takes them. */
  get provisional(): number {
    return this.#held.provisional.size;
  }

  /** Hot path. */
  get(key: string, now: number): Pin | undefined {
    const slot = this.#held.slotOf(key);
    if (slot < 0) return undefined;
    if (this.#lifetime.isOver(now - this.#held.usedAt(slot))) {
      // Others may have placed the key anew by now.
      this.#held.remove(slot);
      return undefined;
    }
    this.#held.use(slot, now);
    return this.#held.pinAt(slot);
  }

  peek(key: string): Pin | undefined {
    const slot = this.#held.slotOf(key);
    if (slot < 0 || this.#lifetime.isOver(this.#parts.clock() - this.#held.usedAt(slot))) return undefined;
    return this.#held.pinAt(slot);
  }

  idleMs(key: string, now: number): number | null {
    return this.peek(key) === undefined ? null : now - this.#held.usedAt(this.#held.slotOf(key));
  }

  put(key: string, candidates: readonly string[], expectedVersion: number, now: number): Pin | Promise<Pin> {
    const held = this.#held;
    const slot = held.slotOf(key);
    if (slot >= 0 && held.versionAt(slot) !== expectedVersion) return held.pinAt(slot);
    if (slot >= 0 && !this.#parts.link.gave(held.storeVersionAt(slot))) held.disown(slot);
    const expected = slot >= 0 ? held.storeVersionAt(slot) : Math.max(0, expectedVersion);
    if (this.#parts.link.state !== 'up' || this.#claimTimeoutMs <= 0) {
      this.#parts.observer.asked('behind', 0);
      const pin = held.writeProvisional(key, candidates, expected, now);
      this.#sync.goOn();
      return pin;
    }
    const name = held.nameOf(key);
    const other = this.#pending.get(name);
    // Who is second in this process follows the first.
    if (other?.waited) return other.pin;
    const over = versionOf(held, key);
    return this.#ask(new PendingPut({ key, name, candidates, over, expected }, now, this.#claimTimeoutMs));
  }

  touch(key: string, now: number): void {
    const slot = this.#held.slotOf(key);
    if (slot >= 0) this.#held.use(slot, now);
  }

  async delete(key: string): Promise<boolean> {
    const held = this.#held;
    const before = versionOf(held, key);
    const existed = await this.#unlessAway((backend) => backend.remove(held.nameOf(key)));
    // What was written after the removal comes as a change, and stays.
    const slot = held.slotOf(key);
    if (slot >= 0 && held.versionAt(slot) === before) held.remove(slot);
    return existed || before !== 0;
  }

  async fetch(key: string): Promise<Pin | undefined> {
    const stored = await this.#unlessAway((backend) => backend.read(this.#held.nameOf(key)));
    const slot = this.#held.slotOf(key);
    if (stored === null || !this.#parts.link.gave(stored.version)) return undefined;
    if (slot >= 0) this.#held.learn(slot, stored);
    return stored.candidates.length === 0 ? undefined : stored;
  }

  sweep(now: number, maxIdleMs: number): number {
    return this.#held.sweep(now, maxIdleMs);
  }

  list(limit: number, cursor: string | null, now: number): PinPage {
    return this.#held.list(limit, cursor, now);
  }

  close(): void {
    for (const end of this.#ends.splice(0)) end();
    this.#pending.close();
    this.#sync.close();
  }

  #ask(put: PendingPut): Promise<Pin> {
    this.#pending.add(put);
    this.#parts.backend
      .put(put.name, put.candidates, put.expected, this.#lifetime.ofUse(0))
      .then(
        (written) => this.#answered(put, written),
        () => this.#failed(put),
      )
      .catch(() => this.#failed(put));
    return put.pin;
  }

  #answered(put: PendingPut, written: Written): void {
    const { clock, link, observer } = this.#parts;
    const { key, seen } = put;
    this.#pending.remove(put);
    if (put.waited) {
      const ms = clock() - put.usedAt;
      link.answered(ms);
      observer.asked(written.won ? 'won' : 'followed', ms);
    }
    // A change told on another connection may be newer than this answer.
    const latest = seen !== null && seen.version > written.version ? { ...seen, won: false } : written;
    // A key that has left since nobody waits was deleted, it may be after this write.
    if (put.waited || this.#held.slotOf(key) >= 0) this.#held.answered(put, latest);
    if (put.waited) put.give(this.peek(key) ?? { candidates: written.candidates, version: written.version });
  }

  #failed(put: PendingPut): void {
    this.#pending.remove(put);
    // One that was late has been counted, and decided.
    if (!put.waited) return;
    this.#parts.link.failed();
    this.#provisional(put, 'failed');
  }

  #tooLate(put: PendingPut): void {
    this.#parts.link.failed();
    this.#provisional(put, 'late');
  }

  /** Decided here; the store hears of it when it can. */
  #provisional(put: PendingPut, why: 'late' | 'failed'): void {
    const { clock, observer } = this.#parts;
    const held = this.#held;
    observer.asked(why, clock() - put.usedAt);
    const { seen } = put;
    // What was told of a key that is not held.
    if (seen !== null && held.slotOf(put.key) < 0) held.answered(put, { ...seen, won: false });
    const over = Math.max(put.expected, seen === null ? 0 : seen.version);
    const slot = held.slotOf(put.key);
    // It was told or written here while this one waited.
    const pin =
      slot >= 0 && held.versionAt(slot) !== put.over
        ? held.pinAt(slot)
        : held.writeProvisional(put.key, put.candidates, over, put.usedAt);
    put.give(pin);
    this.#sync.goOn();
  }

  #changed(change: PinChange): void {
    if (!this.#parts.link.gave(change.version)) return;
    const put = this.#pending.get(change.name);
    if (put !== undefined && (put.seen === null || put.seen.version < change.version)) put.seen = change;
    const slot = this.#held.slotOfName(change.name);
    const own = put !== undefined && sameCandidates(change.candidates, put.candidates);
    if (slot >= 0 && this.#held.learn(slot, change) && !own) this.#parts.observer.synced('changed');
  }

  async #unlessAway<T>(call: (backend: PinBackend) => Promise<T>): Promise<T> {
    if (this.away) throw new PinStoreAway();
    try {
      return await call(this.#parts.backend);
    } catch (error) {
      throw new PinStoreAway({ cause: error });
    }
  }
}

/** 0 for a key that is not held. */
function versionOf(held: HeldPins, key: string): number {
  const slot = held.slotOf(key);
  return slot < 0 ? 0 : held.versionAt(slot);
}
