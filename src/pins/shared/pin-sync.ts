/**
 * Keeps held pins and the shared store alike, off the request path: gives it the provisional pins, puts off the end of those
 * in use, and compares all after a gap.
 */
import type { Timers } from '../../util/timers.ts';
import { sameCandidates } from '../same-candidates.ts';
import type { HeldPins } from './held-pins.ts';
import type { PinBackend, StoreLink } from './pin-backend.ts';
import type { PinLifetime } from './pin-lifetime.ts';
import type { SharedPinObserver } from './pin-observer.ts';

export interface PinSyncParts {
  readonly held: HeldPins;
  readonly lifetime: PinLifetime;
  readonly backend: PinBackend;
  readonly link: StoreLink;
  readonly observer: SharedPinObserver;
  readonly timers: Timers;
  readonly clock: () => number;
}

/** Calls in flight at one moment. */
const BATCH = 128;
/** Keys that are listed at one moment: a millisecond of work. */
const MOST_LISTED = 4000;
/** While all pins are compared, those in use come first again after so many batches. */
const BATCHES_BETWEEN = 16;
const REST_MS = 250;
/** By so much a use is noted late at most: it counts from the start of a request, and a decision takes no longer. */
const LATE_USE_MS = 250;
/** A walk since then leaves none out. */
const ALL = Number.NEGATIVE_INFINITY;

export class PinSync {
  readonly #parts: PinSyncParts;
  /** Keys to compare, the first one last. */
  #queue: string[] = [];
  #walking = false;
  /** The walk ends at pins that were not used after it. */
  #walkSince = ALL;
  #running = false;
  /** Asked to go on while it ran. */
  #again = false;
  #closed = false;
  #refreshedAt: number;
  #stopRefresh: () => void = () => {};
  /** After a failure. */
  #resting = false;
  #stopTimer: () => void = () => {};

  constructor(parts: PinSyncParts) {
    this.#parts = parts;
    this.#refreshedAt = parts.clock();
    this.reschedule();
  }

  /** The lifetime has changed. */
  reschedule(): void {
    this.#stopRefresh();
    this.#stopRefresh = this.#parts.timers.after(this.#parts.lifetime.refreshMs, () => {
      this.reschedule();
      if (this.#parts.link.state === 'down') return;
      this.#queueUsed();
      this.goOn();
    });
  }

  /** Changes may have been missed: all pins are compared with the store, those used last first. */
  compareAll(): void {
    this.#queue = [];
    this.#walk(ALL);
    this.goOn();
  }

  /** The store can be asked again, or no more. */
  stateChanged(): void {
    this.#stopRest();
    this.goOn();
  }

  /** There is something to do. */
  goOn(): void {
    if (this.#closed || this.#resting) return;
    if (this.#running) {
      this.#again = true;
      return;
    }
    this.#running = true;
    this.#again = false;
    this.#run().then(
      () => {
        this.#running = false;
        if (this.#again) this.goOn();
      },
      () => {
        this.#running = false;
        // Says nothing of new keys, whose part of the store may be another: they tell of themselves.
        this.#rest();
      },
    );
  }

  close(): void {
    this.#closed = true;
    this.#stopRefresh();
    this.#stopRest();
  }

  /** What failed is not asked again at once, whoever has more to tell. */
  #rest(): void {
    if (this.#closed) return;
    this.#resting = true;
    this.#stopTimer = this.#parts.timers.after(REST_MS, () => this.stateChanged());
  }

  #stopRest(): void {
    this.#resting = false;
    this.#stopTimer();
  }

  async #run(): Promise<void> {
    for (let batches = 1; !this.#closed && this.#parts.link.state !== 'down'; batches++) {
      if (this.#walking && batches % BATCHES_BETWEEN === 0) this.#queueUsed();
      const provisional = this.#provisionalKeys();
      if (provisional.length > 0) {
        const failed = await failedOf(provisional, (key) => this.#repeat(key));
        if (failed.length === 0) continue;
        // Others must not wait for keys of a part of the store that is away.
        for (const key of failed) this.#parts.held.postpone(key);
        throw new Error('provisional pins could not be given to the store');
      }
      const keys = this.#nextKeys();
      if (keys.length === 0) return;
      const failed = await failedOf(keys, (key) => this.#compare(key));
      if (failed.length === 0) continue;
      this.#queue.unshift(...failed);
      throw new Error('pins could not be compared with the store');
    }
  }

  #provisionalKeys(): string[] {
    const keys: string[] = [];
    for (const key of this.#parts.held.provisional.keys()) {
      if (keys.push(key) === BATCH) break;
    }
    return keys;
  }

  /**
   * Pins used since the last visit. While some of that one still wait, it goes on: each is asked for once. To list many takes
   * long: they are walked over, and where a walk is on its way the last of them have to do until it ends.
   */
  #queueUsed(): void {
    if (this.#queue.length > 0) return;
    const { held, clock } = this.#parts;
    const since = this.#refreshedAt - LATE_USE_MS;
    const keys = held.keysUsedAfter(since, MOST_LISTED);
    const many = keys.length === MOST_LISTED;
    if (many && this.#walking) {
      this.#queue = keys.slice(0, BATCH).reverse();
      return;
    }
    if (many) this.#walk(since);
    else this.#queue = keys.reverse();
    this.#refreshedAt = clock();
  }

  #walk(since: number): void {
    this.#walking = true;
    this.#walkSince = since;
    this.#parts.held.beginWalk();
  }

  /** None when nothing is left to compare. */
  #nextKeys(): string[] {
    const keys = this.#queue.splice(-BATCH);
    while (this.#walking && keys.length < BATCH) {
      const key = this.#parts.held.walk(this.#walkSince);
      if (key !== null) {
        keys.push(key);
        continue;
      }
      this.#walking = false;
      // It may have left them out.
      if (this.#walkSince === ALL) this.#queueUsed();
      keys.push(...this.#queue.splice(-BATCH));
    }
    return keys;
  }

  /** The store is asked again for what only this replica knows. */
  async #repeat(key: string): Promise<void> {
    const { held, backend, link, observer, clock, lifetime } = this.#parts;
    const slot = held.slotOf(key);
    if (slot < 0) return;
    const usedAt = held.usedAt(slot);
    const idleMs = clock() - usedAt;
    if (lifetime.isOver(idleMs)) return held.remove(slot);
    const ttl = lifetime.ofUse(idleMs);
    if (!link.gave(held.storeVersionAt(slot))) held.disown(slot);
    const { candidates, version: over } = held.pinAt(slot);
    const written = await backend.put(held.nameOf(key), candidates, held.storeVersionAt(slot), ttl);
    // One that was late the first time may have been carried out.
    observer.synced(written.won || sameCandidates(written.candidates, candidates) ? 'kept' : 'gave_way');
    if (held.slotOf(key) >= 0) held.answered({ key, candidates, over, usedAt }, written);
  }

  async #compare(key: string): Promise<void> {
    const { held, backend, link, observer, clock, lifetime } = this.#parts;
    const slot = held.slotOf(key);
    if (slot < 0 || held.versionAt(slot) < 0) return;
    const idleMs = clock() - held.usedAt(slot);
    if (lifetime.isOver(idleMs)) return held.remove(slot);
    if (!link.gave(held.versionAt(slot))) return held.disown(slot);
    const ttl = lifetime.ofUse(idleMs);
    const name = held.nameOf(key);
    let stored = await backend.touch(name, ttl);
    const now = held.slotOf(key);
    if (now < 0 || held.versionAt(now) < 0) return;
    const { candidates, version } = held.pinAt(now);
    let restored = false;
    if (stored === null || stored.version < version) {
      // The store has lost it, or it was moved meanwhile.
      const offered = await backend.offer(name, candidates, version, ttl);
      stored = offered;
      restored = offered.won;
    }
    observer.synced(restored ? 'restored' : 'refreshed');
    const then = held.slotOf(key);
    if (then >= 0 && held.learn(then, stored)) observer.synced('changed');
  }
}

/** Calls for all keys; answers with those whose call failed when the last one has ended. */
async function failedOf(keys: readonly string[], call: (key: string) => Promise<void>): Promise<string[]> {
  const results = await Promise.allSettled(keys.map(call));
  return keys.filter((_, i) => results[i]?.status === 'rejected');
}
