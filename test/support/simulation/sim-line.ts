import type {
  PinBackend,
  PinChange,
  StoredPin,
  StoreLink,
  StoreState,
  Written,
} from '../../../src/pins/shared/pin-backend.ts';
import { StoreGate } from '../../../src/redis/store-gate.ts';
import { LinkEvents } from '../link-events.ts';
import type { Dice } from './dice.ts';
import type { SimClock } from './sim-clock.ts';
import type { SimStore } from './sim-store.ts';
import { CLAIM_TIMEOUT_MS, type Traits } from './traits.ts';

/** As the connection has them. */
const SILENCE_MS = 3000;
const PROBE_MS = 1000;
const FIRST_RETRY_MS = 100;
const OVERDUE_MS = 1000;

export interface LineParts {
  readonly clock: SimClock;
  readonly store: SimStore;
  readonly dice: Dice;
  readonly traits: Traits;
  /** What goes wrong now with single calls and changes. */
  readonly weather: Pick<Traits, 'refusedCalls' | 'lostAnswers' | 'lostChanges'>;
  /** A call is about to be carried out, and what it has become. */
  readonly carriedOut: (what: string, name: string, run: () => unknown) => unknown;
  /** A change has reached this replica, after its listeners have heard of it. */
  readonly told: (change: PinChange) => void;
  readonly stateIs: (state: StoreState) => void;
  readonly trace: (what: string) => void;
}

interface Call {
  /** Answered, failed or given up. */
  settled: boolean;
  readonly fail: (why: string) => void;
}

/** The way of one replica to the store and back, as `RedisLink` is one, with the real gate. */
export class SimLine extends LinkEvents implements StoreLink, PinBackend {
  readonly #parts: LineParts;
  readonly #gate = new StoreGate();
  readonly #open = new Set<Call>();
  #toldState: StoreState = 'down';
  #reachable = true;
  #connected = false;
  #answering = false;
  #subscribed = false;
  #missed = true;
  #epoch = 0;
  /** Of the connection and of the subscription: what belongs to an earlier one is void. */
  #connection = 0;
  #subscription = 0;
  #probe = 0;
  #retryMs = FIRST_RETRY_MS;
  #closed = false;
  #lastArrival = 0;
  #lastAnswer = 0;
  #lastChange = 0;

  constructor(parts: LineParts) {
    super();
    this.#parts = parts;
    this.#connect();
  }

  get state(): StoreState {
    return this.#gate.state;
  }

  /** It stands, and every change will come. */
  get ready(): boolean {
    return this.#gate.state === 'up' && this.#subscribed;
  }

  /** Calls without an answer. */
  get open(): number {
    return this.#open.size;
  }

  answered(ms: number): void {
    if (ms <= CLAIM_TIMEOUT_MS) this.#gate.answered();
    else this.failed();
  }

  gave(): boolean {
    // Its clock steps by a second at most.
    return true;
  }

  failed(): void {
    this.#gate.failed(this.#parts.clock.now, CLAIM_TIMEOUT_MS);
    if (this.#gate.state === this.#toldState) return;
    this.#tellState();
    this.#retryMs = FIRST_RETRY_MS;
    this.#probeIn(this.#retryMs);
  }

  put(name: string, candidates: readonly string[], expected: number, ttlMs: number): Promise<Written> {
    return this.#call(`put ${candidates} over ${expected}`, name, ({ pins }) =>
      pins.put(name, candidates, expected, ttlMs),
    );
  }

  offer(name: string, candidates: readonly string[], version: number, ttlMs: number): Promise<Written> {
    return this.#call(`offer ${candidates} of ${version}`, name, ({ pins }) =>
      pins.offer(name, candidates, version, ttlMs),
    );
  }

  touch(name: string, ttlMs: number): Promise<StoredPin | null> {
    return this.#call('touch', name, ({ pins }) => pins.touch(name, ttlMs));
  }

  read(name: string): Promise<StoredPin | null> {
    return this.#call('read', name, ({ pins }) => pins.read(name));
  }

  remove(name: string): Promise<boolean> {
    return this.#call('remove', name, ({ pins }) => pins.remove(name));
  }

  /** The store has published something. */
  hear(change: PinChange): void {
    const { clock, dice, traits, weather, trace } = this.#parts;
    if (!this.#subscribed || dice.chance(weather.lostChanges)) {
      trace('does not get it');
      return;
    }
    const at = inTurn(clock.now + dice.between(0, traits.deliveryMs), this.#lastChange, traits.changesOvertake);
    this.#lastChange = Math.max(this.#lastChange, at);
    const subscription = this.#subscription;
    clock.after(at - clock.now, () => {
      if (subscription !== this.#subscription) return;
      trace(`hears that ${change.name} is ${change.candidates} of ${change.version}`);
      this.changes.tell(change);
      this.#parts.told(change);
    });
  }

  /** Connections end, and new ones fail until it can be reached. */
  cut(reachable: boolean): void {
    this.#reachable = reachable;
    this.#lose();
  }

  heal(): void {
    this.#reachable = true;
  }

  /** The subscription ends, and comes back after a while. */
  breakSubscription(ms: number): void {
    this.#missed = true;
    this.#subscribed = false;
    const subscription = ++this.#subscription;
    this.#parts.clock.after(ms, () => {
      if (subscription === this.#subscription && this.#connected) this.#join();
    });
  }

  /** All that is known is to be compared. */
  gap(): void {
    this.gaps.tell();
  }

  close(): void {
    this.#closed = true;
    this.#connected = false;
    this.#connection++;
    this.#subscription++;
    this.#probe++;
    this.states.clear();
    this.changes.clear();
    this.gaps.clear();
    for (const call of this.#open) call.settled = true;
    this.#open.clear();
  }

  #connect(): void {
    const { clock, store, dice, traits } = this.#parts;
    const connection = ++this.#connection;
    clock.after(dice.between(0, traits.latencyMs) + (traits.outages ? dice.between(20, 300) : 0), () => {
      if (this.#closed || connection !== this.#connection) return;
      if (!this.#reachable || store.mode === 'killed') return this.#connect();
      this.#connected = true;
      this.#answering = true;
      this.#retryMs = FIRST_RETRY_MS;
      this.#lastArrival = 0;
      this.#lastAnswer = 0;
      this.#ask();
      this.breakSubscription(dice.between(0, traits.latencyMs));
    });
  }

  #join(): void {
    this.#subscribed = true;
    this.#tellGap();
  }

  /** The connection is gone. */
  #lose(): void {
    if (this.#closed) return;
    this.#connected = false;
    this.#answering = false;
    this.#subscribed = false;
    this.#missed = true;
    this.#subscription++;
    this.#probe++;
    for (const call of this.#open) call.fail('connection lost');
    this.#gate.lost();
    this.#tellState();
    this.#connect();
  }

  #call<T>(what: string, name: string, run: (store: SimStore) => T): Promise<T> {
    const { clock, store, dice, traits, weather, trace, carriedOut } = this.#parts;
    if (!this.#connected || !this.#answering || this.#closed) return Promise.reject(new Error('no connection'));
    return new Promise((resolve, reject) => {
      const settle = (how: () => void): void => {
        if (call.settled) return;
        call.settled = true;
        this.#open.delete(call);
        stopSilence();
        how();
      };
      const call: Call = { settled: false, fail: (why) => settle(() => reject(new Error(why))) };
      this.#open.add(call);
      const stopSilence = clock.after(SILENCE_MS, () => !call.settled && this.#lose());
      // What is under way when the connection ends may get through, or not.
      const getsThrough = dice.chance(0.5);
      const arrival = inTurn(clock.now + dice.between(0, traits.latencyMs), this.#lastArrival, traits.callsOvertake);
      this.#lastArrival = Math.max(this.#lastArrival, arrival);
      clock.after(arrival - clock.now, () => {
        if ((call.settled && !getsThrough) || store.mode === 'killed') return;
        store.receive(() => {
          const refused = dice.chance(weather.refusedCalls);
          const lost = dice.chance(weather.lostAnswers);
          if (!refused) trace(`${name}: ${what}`);
          const answer = refused ? null : (carriedOut(what, name, () => run(store)) as T);
          const back = inTurn(clock.now + dice.between(0, traits.latencyMs), this.#lastAnswer, traits.callsOvertake);
          this.#lastAnswer = Math.max(this.#lastAnswer, back);
          if (lost) return;
          clock.after(back - clock.now, () =>
            settle(() => (refused ? reject(new Error('refused')) : resolve(answer as T))),
          );
        });
      });
    });
  }

  #probeIn(ms: number): void {
    const probe = ++this.#probe;
    this.#parts.clock.after(ms, () => {
      if (probe === this.#probe && this.#connected) this.#ask();
    });
  }

  #ask(): void {
    const { clock, traits } = this.#parts;
    const probe = ++this.#probe;
    const start = clock.now;
    const stopOverdue = clock.after(OVERDUE_MS, () => {
      if (probe !== this.#probe) return;
      this.#answering = false;
      this.#gate.lost();
      this.#tellState();
    });
    const answering = this.#answering;
    this.#answering = true;
    const asked = this.#call('probe', '', ({ epoch }) => epoch);
    this.#answering = answering;
    const settled = (tell: () => void): void => {
      stopOverdue();
      if (probe !== this.#probe) return;
      this.#answering = true;
      tell();
      this.#tellState();
      this.#tellGap();
      const well = this.#gate.state === 'up';
      // Without anything that can befall the store there is nothing to find out.
      if (well && !traits.outages && !traits.losses && traits.refusedCalls + traits.lostAnswers === 0) return;
      this.#probeIn(well ? PROBE_MS : this.#retryMs);
      this.#retryMs = well ? FIRST_RETRY_MS : Math.min(PROBE_MS, this.#retryMs * 2);
    };
    asked.then(
      (epoch) =>
        settled(() => {
          if (this.#epoch !== 0 && epoch !== this.#epoch) this.#missed = true;
          this.#epoch = epoch;
          this.#gate.probed(clock.now - start, CLAIM_TIMEOUT_MS);
        }),
      () => settled(() => this.#gate.lost()),
    );
  }

  #tellState(): void {
    const state = this.#gate.state;
    if (state === this.#toldState) return;
    this.#toldState = state;
    this.#parts.trace(`finds the store ${state}`);
    this.states.tell(state);
    this.#parts.stateIs(state);
  }

  #tellGap(): void {
    if (!this.#missed || this.#gate.state === 'down' || !this.#subscribed) return;
    this.#missed = false;
    this.#parts.trace('has a gap');
    this.gap();
  }
}

/** What was sent later arrives later, unless things overtake. */
function inTurn(at: number, last: number, overtake: boolean): number {
  return overtake ? at : Math.max(at, last);
}
