import type { PinBackend, PinChange, StoredPin, Written } from '../../src/pins/shared/pin-backend.ts';
import { PinNames } from '../../src/pins/shared/pin-names.ts';
import type { AskResult, SyncResult } from '../../src/pins/shared/pin-observer.ts';
import { SharedPinStore, type SharedPinStoreOptions } from '../../src/pins/shared/shared-pin-store.ts';
import { isOfStore } from '../../src/pins/shared/store-clock.ts';
import type { Timers } from '../../src/util/timers.ts';
import { ModelPinBackend, ModelPins } from './model-pin-backend.ts';
import { TestLink } from './test-link.ts';

/** A clock that goes when it is told to, with what was put off until then. */
export class TestClock implements Timers {
  now = 0;
  #waiting: { readonly at: number; readonly run: () => void }[] = [];

  after(ms: number, run: () => void): () => void {
    const entry = { at: this.now + ms, run };
    this.#waiting.push(entry);
    return () => {
      this.#waiting = this.#waiting.filter((other) => other !== entry);
    };
  }

  afterReading(ms: number, run: () => void): () => void {
    return this.after(ms, run);
  }

  /** Lets time pass, and all that is due with it, in order; promises get their turn after each. */
  async pass(ms: number): Promise<void> {
    const until = this.now + ms;
    await promises();
    for (;;) {
      const next = this.#waiting.filter(({ at }) => at <= until).toSorted((a, b) => a.at - b.at)[0];
      if (next === undefined) break;
      this.#waiting = this.#waiting.filter((other) => other !== next);
      this.now = Math.max(this.now, next.at);
      next.run();
      await promises();
    }
    this.now = until;
    await promises();
  }
}

/** Lets everything run that waits for nothing but promises. */
export function promises(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** A backend whose calls and answers can be held back. */
export class HeldBackend implements PinBackend {
  readonly #model: ModelPinBackend;
  readonly calls: string[] = [];
  /** Until the call gets to the store, and until its answer is here. */
  before: () => Promise<void> = () => Promise.resolve();
  after: () => Promise<void> = () => Promise.resolve();

  constructor(pins: ModelPins) {
    this.#model = new ModelPinBackend(pins);
  }

  put(name: string, candidates: readonly string[], expected: number, ttlMs: number): Promise<Written> {
    return this.#call(`put ${candidates.join(' ')} ${expected} ${ttlMs}`, () =>
      this.#model.put(name, candidates, expected, ttlMs),
    );
  }

  offer(name: string, candidates: readonly string[], version: number, ttlMs: number): Promise<Written> {
    return this.#call(`offer ${candidates.join(' ')} ${version} ${ttlMs}`, () =>
      this.#model.offer(name, candidates, version, ttlMs),
    );
  }

  touch(name: string, ttlMs: number): Promise<StoredPin | null> {
    return this.#call(`touch ${ttlMs}`, () => this.#model.touch(name, ttlMs));
  }

  read(name: string): Promise<StoredPin | null> {
    return this.#call('read', () => this.#model.read(name));
  }

  remove(name: string): Promise<boolean> {
    return this.#call('remove', () => this.#model.remove(name));
  }

  async #call<T>(name: string, run: () => Promise<T>): Promise<T> {
    this.calls.push(name);
    await this.before();
    const answer = await run();
    await this.after();
    return answer;
  }
}

/** Replicas over one model of the store; a change reaches each of them at once unless `deliver` says otherwise. */
export class SharedPinsBench {
  readonly clock = new TestClock();
  readonly names = new PinNames(null);
  readonly replicas: TestReplica[] = [];
  deliver: (change: PinChange) => void = (change) => {
    for (const { link } of this.replicas) link.change(change);
  };
  /** By how much the clock of the store is ahead of the right one. */
  storeAheadMs = 0;
  readonly pins = new ModelPins(
    () => this.clock.now + this.storeAheadMs,
    (change) => this.deliver(change),
  );

  replica(options: Partial<SharedPinStoreOptions> = {}): TestReplica {
    const backend = new HeldBackend(this.pins);
    const link = new TestLink();
    link.gave = (version) => isOfStore(version, this.clock.now + this.storeAheadMs);
    const asked: AskResult[] = [];
    const synced: SyncResult[] = [];
    const store = new SharedPinStore(
      {
        backend,
        link,
        names: this.names,
        observer: { asked: (result) => asked.push(result), synced: (result) => synced.push(result) },
        timers: this.clock,
        clock: () => this.clock.now,
      },
      { maxPins: 1000, maxIdleMs: 100_000, claimTimeoutMs: 50, ...options },
    );
    const replica = { store, backend, link, asked, synced };
    this.replicas.push(replica);
    return replica;
  }

  /** What the shared store holds of a key. */
  stored(key: string): StoredPin | null {
    return this.pins.read(this.names.nameOf(key));
  }
}

export interface TestReplica {
  readonly store: SharedPinStore;
  readonly backend: HeldBackend;
  readonly link: TestLink;
  readonly asked: AskResult[];
  readonly synced: SyncResult[];
}
