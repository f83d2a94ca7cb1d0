import type { Pin } from '../../../src/pins/pin-store.ts';
import type { PinBackend, PinChange, StoredPin, Written } from '../../../src/pins/shared/pin-backend.ts';
import { SharedPinStore } from '../../../src/pins/shared/shared-pin-store.ts';
import type { Timers } from '../../../src/util/timers.ts';
import { ModelPins } from '../model-pin-backend.ts';
import { TestLink } from '../test-link.ts';
import { promisesRest } from './sim-clock.ts';

/** What a replica does with the one key. */
export type Operation = 'turn' | 'move' | 'delete' | 'gap';

/** One thing that can happen next. */
export interface Step {
  /** The same in every order of steps in which it comes up. */
  readonly id: string;
  /** Where it happens: steps of different places do not depend on each other's order. */
  readonly place: string;
  readonly run: () => void;
}

export interface SmallProgram {
  /** By replica. */
  readonly operations: readonly (readonly Operation[])[];
  /** Both hold the key from the start. */
  readonly known: boolean;
  /** At most one put is not waited for until its answer comes. */
  readonly late: boolean;
  /** At most one change is lost. */
  readonly lossy: boolean;
}

const KEY = 'k';

/** Replicas with one key, in which nothing happens but the steps that are chosen. */
export class SmallWorld {
  readonly replicas: SmallReplica[] = [];
  /** What turns were told, in order. */
  readonly served: Pin[] = [];
  readonly #steps = new Map<string, Step>();
  readonly #given = new Map<number, string>();
  #storeMs = 1_000;
  #lates: number;
  #losses: number;
  /** The call that is carried out. */
  #cause = '';
  readonly pins = new ModelPins(
    () => this.#storeMs,
    (change) => this.#publish(change),
  );

  constructor(program: SmallProgram) {
    this.#lates = program.late ? 1 : 0;
    this.#losses = program.lossy ? 1 : 0;
    for (const [index, operations] of program.operations.entries())
      this.replicas.push(new SmallReplica(`r${index}`, operations, this));
  }

  async begin(known: boolean): Promise<void> {
    if (known) {
      for (const replica of this.replicas) {
        replica.turn();
        await this.drain();
      }
      this.served.length = 0;
    }
    for (const replica of this.replicas) replica.offerNext();
  }

  /** What can happen now. */
  get steps(): Step[] {
    const steps = [...this.#steps.values()];
    for (const replica of this.replicas) {
      const { name, waiting } = replica;
      if (waiting !== null && this.#lates > 0) {
        const run = (): void => {
          this.#lates--;
          replica.late();
        };
        // There is one for all, so that it depends on every other place.
        steps.push({ id: `late ${name}`, place: '*', run });
      }
    }
    return steps;
  }

  add(id: string, place: string, run: () => void): void {
    this.#steps.set(id, { id, place, run });
  }

  async take(step: Step): Promise<void> {
    this.#steps.delete(step.id);
    step.run();
    await promisesRest();
    for (const replica of this.replicas) replica.look((pin) => this.#genuine(pin));
  }

  /** Lets all happen that is under way, in any one order. */
  async drain(): Promise<void> {
    for (;;) {
      const step = [...this.#steps.values()].find(({ id }) => !id.includes('loses'));
      if (step === undefined) break;
      await this.take(step);
    }
    this.#steps.clear();
  }

  /** All is told and compared. Throws where replicas and store differ. */
  async end(): Promise<void> {
    await this.drain();
    for (const replica of this.replicas) {
      replica.link.gap();
      await promisesRest();
      await this.drain();
    }
    const stored = this.pins.read(KEY);
    for (const { name, store } of this.replicas) {
      const pin = store.peek(KEY);
      if (store.provisional > 0) throw new Error(`${name} still holds a provisional pin`);
      if (pin !== undefined && text(pin) !== (stored && text(stored)))
        throw new Error(`${name} holds ${text(pin)}, and the store ${stored && text(stored)}`);
      store.close();
    }
  }

  /** A call that comes to the store at some time, and its answer that comes back at another. */
  call<T>(replica: string, what: string, number: number, run: () => T): Promise<T> {
    return new Promise((resolve) => {
      const id = `${replica}.${number} ${what}`;
      this.add(id, 'store', () => {
        this.#storeMs++;
        this.#cause = id;
        const before = this.pins.read(KEY);
        const answer = run();
        this.#wrote(before, this.pins.read(KEY));
        this.add(`${id} is answered`, replica, () => resolve(answer));
      });
    });
  }

  #publish(change: PinChange): void {
    for (const { name, link } of this.replicas) {
      const id = `${name} hears of ${this.#cause}`;
      const loses = `${name} loses ${this.#cause}`;
      this.add(id, name, () => {
        this.#steps.delete(loses);
        link.change(change);
      });
      if (this.#losses > 0)
        this.add(loses, '*', () => {
          this.#losses--;
          this.#steps.delete(id);
          for (const other of this.#steps.keys()) if (other.includes('loses')) this.#steps.delete(other);
        });
    }
  }

  #wrote(before: StoredPin | null, after: StoredPin | null): void {
    if (after === null || after === before) return;
    if (before !== null && after.version < before.version) throw new Error('a version in the store has fallen');
    const given = this.#given.get(after.version) ?? after.candidates.join();
    if (given !== after.candidates.join()) throw new Error(`version ${after.version} has two values`);
    this.#given.set(after.version, given);
  }

  #genuine(pin: Pin): void {
    if (pin.version > 0 && this.#given.get(pin.version) !== pin.candidates.join())
      throw new Error(`the store never gave ${text(pin)}`);
  }
}

class SmallReplica implements PinBackend, Timers {
  readonly name: string;
  readonly link = new TestLink();
  readonly store: SharedPinStore;
  readonly #world: SmallWorld;
  readonly #operations: readonly Operation[];
  #next = 0;
  #calls = 0;
  #now = 0;
  /** The end of a wait. */
  waiting: (() => void) | null = null;
  #highest = 0;

  constructor(name: string, operations: readonly Operation[], world: SmallWorld) {
    this.name = name;
    this.#world = world;
    this.#operations = operations;
    this.store = new SharedPinStore(
      {
        backend: this,
        link: this.link,
        names: { nameOf: (key) => key },
        observer: { asked: () => {}, synced: () => {} },
        timers: this,
        clock: () => this.#now,
      },
      { maxPins: 10, maxIdleMs: 0, claimTimeoutMs: 50 },
    );
  }

  offerNext(): void {
    const operation = this.#operations[this.#next];
    if (operation === undefined) return;
    const id = `${this.name} ${operation} ${this.#next++}`;
    this.#world.add(id, this.name, () => {
      this[operation]();
      this.offerNext();
    });
  }

  turn(): void {
    const pin = this.store.get(KEY, this.#now);
    if (pin !== undefined) return void this.#world.served.push(pin);
    void Promise.resolve(this.store.put(KEY, [this.name], 0, this.#now)).then((held) => this.#world.served.push(held));
  }

  move(): void {
    const pin = this.store.peek(KEY);
    if (pin !== undefined) void this.store.put(KEY, [`${this.name}${this.#next}`], pin.version, this.#now);
  }

  delete(): void {
    void this.store.delete(KEY);
  }

  gap(): void {
    this.link.gap();
  }

  late(): void {
    this.#now += 50;
    const run = this.waiting;
    this.waiting = null;
    run?.();
  }

  look(genuine: (pin: Pin) => void): void {
    const pin = this.store.peek(KEY);
    if (pin === undefined) return;
    genuine(pin);
    if (pin.version < 0) return;
    if (pin.version < this.#highest) throw new Error(`${this.name} went back from ${this.#highest} to ${text(pin)}`);
    this.#highest = pin.version;
  }

  put(name: string, candidates: readonly string[], expected: number, ttlMs: number): Promise<Written> {
    return this.#call(`puts ${candidates}`, (pins) => pins.put(name, candidates, expected, ttlMs));
  }

  offer(name: string, candidates: readonly string[], version: number, ttlMs: number): Promise<Written> {
    return this.#call('offers', (pins) => pins.offer(name, candidates, version, ttlMs));
  }

  touch(name: string, ttlMs: number): Promise<StoredPin | null> {
    return this.#call('touches', (pins) => pins.touch(name, ttlMs));
  }

  read(name: string): Promise<StoredPin | null> {
    return this.#call('reads', (pins) => pins.read(name));
  }

  remove(name: string): Promise<boolean> {
    return this.#call('removes', (pins) => pins.remove(name));
  }

  /** Visits and second tries: gaps stand for them. */
  after(): () => void {
    return () => {};
  }

  afterReading(_ms: number, run: () => void): () => void {
    this.waiting = run;
    return () => {
      this.waiting = null;
    };
  }

  #call<T>(what: string, run: (pins: ModelPins) => T): Promise<T> {
    return this.#world.call(this.name, what, this.#calls++, () => run(this.#world.pins));
  }
}

function text({ candidates, version }: StoredPin): string {
  return `${candidates}@${version}`;
}
