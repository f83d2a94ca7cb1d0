import type { StoredPin } from '../../../src/pins/shared/pin-backend.ts';
import type { RoutingRequest } from '../../../src/request/routing-request.ts';
import type { Outcome } from '../../../src/routing/decision.ts';
import { makeWorker, TestFleet } from '../fleet.ts';
import { makeRequest } from '../routing.ts';
import type { Act, ActKind } from './acts.ts';
import { Checks, type Forgotten } from './checks.ts';
import { Dice } from './dice.ts';
import { SimClock } from './sim-clock.ts';
import { type LineParts, SimLine } from './sim-line.ts';
import { SimReplica } from './sim-replica.ts';
import { SimStore } from './sim-store.ts';
import type { Traits } from './traits.ts';

/** Until a connection that was silent is given up, made anew and probed, and what is provisional was told. */
const HEAL_MS = 8000;
const SECOND_MS = 1000;

interface Conversation {
  readonly request: RoutingRequest;
  /** Turns that are being placed. */
  placing: number;
  /** Where the turn before went. */
  last: SimReplica | null;
  /** As the replicas name it; known after its first turn. */
  key: string | null;
  loadKey: string | null;
  workerId: string | null;
}

/** Replicas, workers and one store, to which the acts of a schedule happen. All of it follows from the seed. */
export class World {
  /** What happened, for whoever reads it; null: nobody does. */
  readonly trace: string[] | null;
  readonly #traits: Traits;
  readonly #dice: Dice;
  readonly #weather: LineParts['weather'];
  readonly #clock = new SimClock();
  readonly #store = new SimStore(this.#clock);
  readonly #checks: Checks;
  readonly #fleets: TestFleet[] = [];
  /** The present life of each replica. */
  readonly #replicas: SimReplica[] = [];
  readonly #conversations: Conversation[] = [];
  readonly #downWorkers = new Set<string>();
  /** Newest versions that live replicas held when the store lost them. */
  readonly #forgotten: { readonly replica: SimReplica; readonly lost: Forgotten }[] = [];
  #failure: unknown = null;
  #healed = false;
  #placed = 0;

  constructor(seed: number, traits: Traits, traced = false) {
    this.#traits = traits;
    this.#weather = { ...traits };
    this.#dice = new Dice(seed * 2 + 3);
    this.trace = traced ? [] : null;
    this.#checks = new Checks(traits, () => this.#clock.now);
    this.#store.publish = (change) => {
      for (const { line } of this.#replicas) line.hear(change);
    };
    const ids = Array.from({ length: traits.workers }, (_, i) => `w${i}`);
    for (let i = 0; i < traits.replicas; i++) {
      this.#fleets.push(new TestFleet(ids.map((id) => makeWorker(id))));
      this.#replicas.push(this.#start(i));
    }
    for (let i = 0; i < traits.conversations; i++)
      this.#conversations.push({
        request: makeRequest({ rid: `c${i}` }),
        placing: 0,
        last: null,
        key: null,
        loadKey: null,
        workerId: null,
      });
  }

  /** Turns that were placed. */
  get placed(): number {
    return this.#placed;
  }

  /** Rejects with a `Broken` when something does not hold. */
  async run(acts: readonly Act[]): Promise<void> {
    // The replicas are there before the first request is, unless they crash.
    const start = 2 * SECOND_MS;
    let end = start;
    for (const act of acts) {
      end = Math.max(end, start + act.at);
      this.#clock.after(start + act.at, () => this.#do(act));
    }
    await this.#until(end);
    this.#heal();
    await this.#until(end + HEAL_MS);
    for (const { line, stopSweeps } of this.#replicas) {
      stopSweeps();
      line.gap();
    }
    await this.#until(this.#clock.now + SECOND_MS);
    await this.#finish();
  }

  async #until(at: number): Promise<void> {
    await this.#clock.runUntil(at, () => {
      if (this.#failure !== null) throw this.#failure;
      this.#checks.rested(this.#replicas);
    });
  }

  async #finish(): Promise<void> {
    const stored = (key: string): StoredPin | null => this.#store.pins.read(key);
    for (const replica of this.#replicas) this.#checks.agreed(replica, stored);
    for (const { replica, lost } of this.#forgotten)
      if (!replica.dead) this.#checks.regained(replica, lost, stored(lost.key));
    for (const replica of this.#replicas) {
      const { name, line, timers } = replica;
      if (line.open > 0 && timers.running > 1) this.#checks.leaked(name, `${line.open} calls`);
      if (timers.running > 1) this.#checks.leaked(name, `${timers.running} timers`);
      replica.close();
      if (timers.running > 0) this.#checks.leaked(name, `${timers.running} timers after its end`);
    }
  }

  #do(act: Act): void {
    const [first] = act.dice;
    this.#say('', `#${act.index} ${act.kind}`);
    this.#kinds[act.kind](act, this.#replicas[Math.floor(first * this.#replicas.length)]!);
  }

  readonly #kinds: Record<ActKind, (act: Act, replica: SimReplica) => void> = {
    turn: ({ conversation, dice }) => this.#turn(conversation, dice[1] < 0.4, dice[2] < 0.3),
    crash: ({ dice }, replica) => this.#crash(this.#replicas.indexOf(replica), soon(dice[1])),
    'worker dies': ({ dice }) => this.#killWorker(this.#workerOf(dice[0]), soon(dice[1]), dice[2]),
    cap: ({ conversation, dice }, replica) => this.#fill(this.#conversations[conversation]!, replica, soon(dice[1])),
    'admin move': ({ conversation, dice }, replica) =>
      this.#move(this.#conversations[conversation]!, replica, this.#workerOf(dice[1])),
    // Both fail while the store is away, as they should.
    delete: ({ conversation }, { pins }) => this.#withKey(conversation, (key) => pins.delete(key).catch(() => {})),
    fetch: ({ conversation }, { pins }) => this.#withKey(conversation, (key) => pins.fetch(key).catch(() => {})),
    'subscription breaks': ({ dice }, { line }) => line.breakSubscription(soon(dice[1])),
    'store killed': ({ dice }) => this.#outage('killed', soon(dice[1])),
    'store stopped': ({ dice }) => this.#outage('stopped', soon(dice[1])),
    'store slow': ({ dice }) => {
      this.#store.slowMs = 10 + dice[2] * 300;
      this.#outage('slow', soon(dice[1]));
    },
    'replica cut off': ({ dice }, { line }) => {
      line.cut(false);
      this.#clock.after(soon(dice[1]), () => line.heal());
    },
    wipe: () => {
      this.#note();
      this.#store.wipe();
    },
    failover: ({ dice }) => {
      this.#note();
      this.#store.failOver(dice[1] * 1500, dice[2] < 0.5 ? 0 : -1000 * dice[0]);
      this.#outage('killed', 1 + dice[2] * 300);
    },
    'key evicted': ({ conversation }) => {
      this.#note();
      this.#withKey(conversation, (key) => this.#store.pins.evict(key));
    },
  };

  /** Nothing happens to a conversation whose key is not known yet. */
  #withKey(conversation: number, run: (key: string) => unknown): void {
    const { key } = this.#conversations[conversation]!;
    if (key !== null) run(key);
  }

  #workerOf(dice: number): string {
    return `w${Math.floor(dice * this.#traits.workers)}`;
  }

  #turn(index: number, mayRace: boolean, mayStay: boolean): void {
    const conversation = this.#conversations[index]!;
    if (conversation.placing > 0 && !mayRace) return;
    const there = this.#replicas.filter(
      // As a service that is not ready gets no requests, but waits for its store no longer than this.
      ({ dead, line, startedAt }) => !dead && (line.ready || this.#clock.now - startedAt > 2 * SECOND_MS),
    );
    if (there.length === 0) return;
    const { last } = conversation;
    const replica = mayStay && last !== null && there.includes(last) ? last : this.#dice.pick(there);
    conversation.last = replica;
    const startedAt = this.#clock.now;
    conversation.placing++;
    const placed = (outcome: Outcome): void => {
      conversation.placing--;
      if (outcome.kind === 'refused' || replica.dead) return;
      this.#served(index, replica, startedAt, outcome.worker.id, outcome.write?.key ?? null, outcome.loadKey);
    };
    const outcome = replica.settle(conversation.request);
    if (!(outcome instanceof Promise)) placed(outcome);
    else
      outcome.then(placed).catch((error: unknown) => {
        this.#failure ??= error;
      });
  }

  #served(
    index: number,
    replica: SimReplica,
    startedAt: number,
    workerId: string,
    writtenKey: string | null,
    loadKey: string | null,
  ): void {
    const conversation = this.#conversations[index]!;
    conversation.key ??= writtenKey;
    const { key } = conversation;
    if (key === null) return;
    conversation.workerId = workerId;
    conversation.loadKey = loadKey;
    this.#placed++;
    const placedAt = this.#clock.now;
    const pin = replica.pins.seen.get(key)!;
    this.#say(replica.name, `places a turn of ${key} at ${workerId} by ${pin.candidates} of ${pin.version}`);
    this.#checks.waited(`a turn of ${key} at ${replica.name}`, placedAt - startedAt);
    this.#checks.placed({ conversation: index, replica, key, startedAt, placedAt, workerId, pin });
    this.#clock.after(this.#dice.between(0, 200), () => this.#ended(replica, key, workerId));
  }

  /** The answer of the worker is here; a dead one was replaced by another on the way. */
  #ended(replica: SimReplica, key: string, workerId: string): void {
    if (replica.dead) return;
    if (!this.#downWorkers.has(workerId)) {
      replica.pins.touch(key, replica.now);
      return;
    }
    const up = replica.fleet.snapshot.workers.filter(({ id }) => !this.#downWorkers.has(id));
    if (up.length > 0) replica.follow(key, workerId, this.#dice.pick(up).id);
  }

  #start(index: number): SimReplica {
    const name = `r${index}`;
    const traits = this.#traits;
    const weather = this.#weather;
    const dice = this.#dice;
    const clock = this.#clock;
    const store = this.#store;
    const line: SimLine = new SimLine({
      clock,
      store,
      dice,
      traits,
      weather,
      carriedOut: (_what, key, run) => this.#carryOut(key, run),
      told: (change) => this.#checks.told(replica, change),
      stateIs: (state) => {
        if (state === 'up') this.#healsSoon(replica);
      },
      trace: (what) => this.#say(name, what),
    });
    const replica: SimReplica = new SimReplica({
      name,
      clock,
      traits,
      random: dice.next,
      line,
      fleet: this.#fleets[index]!,
      waited: (of, key, ms) => this.#checks.waited(`a put of ${key} at ${of.name}`, ms),
    });
    return replica;
  }

  #carryOut(key: string, run: () => unknown): unknown {
    const { pins } = this.#store;
    const before = pins.read(key);
    const answer = run();
    const after = pins.read(key);
    if (after !== before) {
      this.#store.remember();
      this.#say('store', `has ${after?.candidates} of ${after?.version} for ${key}`);
      this.#checks.wrote(key, before, after);
    }
    return answer;
  }

  #crash(index: number, downMs: number): void {
    const replica = this.#replicas[index]!;
    if (replica.dead || this.#healed) return;
    replica.close();
    // Its clients try again elsewhere.
    for (const conversation of this.#conversations) conversation.placing = 0;
    this.#clock.after(downMs, () => this.#restart(index));
  }

  #restart(index: number): void {
    if (!this.#replicas[index]!.dead) return;
    const fleet = this.#fleets[index]!;
    for (const { id } of fleet.snapshot.workers) fleet.set(this.#downWorkers.has(id) ? 'down' : 'up', id);
    this.#replicas[index] = this.#start(index);
  }

  /** Each replica sees it at another time. */
  #killWorker(id: string, downMs: number, dice: number): void {
    if (this.#downWorkers.has(id) || this.#downWorkers.size + 1 >= this.#traits.workers) return;
    const seen = (state: 'up' | 'down'): void => {
      for (const fleet of this.#fleets)
        this.#clock.after(this.#dice.between(0, 10 ** (1 + 2 * dice)), () => {
          if (this.#downWorkers.has(id) === (state === 'down')) fleet.set(state, id);
        });
    };
    this.#downWorkers.add(id);
    seen('down');
    this.#clock.after(downMs + 10 ** (1 + 2 * dice), () => {
      this.#downWorkers.delete(id);
      seen('up');
    });
  }

  /** The key has as much in flight at its worker as one may have. */
  #fill({ workerId, loadKey }: Conversation, { fleet }: SimReplica, ms: number): void {
    if (workerId === null || loadKey === null) return;
    const load = fleet.load(workerId);
    load.begin(loadKey, 2);
    this.#clock.after(ms, () => load.end(loadKey, 2));
  }

  #move({ key }: Conversation, replica: SimReplica, workerId: string): void {
    if (key === null || replica.dead) return;
    const pin = replica.pins.peek(key);
    if (pin !== undefined) void replica.pins.put(key, [workerId], pin.version, replica.now);
  }

  #outage(mode: 'killed' | 'stopped' | 'slow', ms: number): void {
    const store = this.#store;
    if (store.mode !== 'well' && mode !== 'killed') return;
    store.become(mode);
    this.#say('store', mode);
    if (mode === 'killed') for (const { line } of this.#replicas) line.cut(true);
    this.#clock.after(ms, () => {
      if (store.mode !== mode) return;
      store.become('well');
      this.#say('store', 'well');
    });
  }

  /** What a replica decided alone is told within a second, once the store can be asked and does what it is asked. */
  #healsSoon(replica: SimReplica): void {
    const alone = replica.pins.entries.filter(({ shared }) => !shared);
    // An answer that is lost alone is waited for until the connection is given up.
    if (alone.length === 0 || this.#traits.lostAnswers > 0 || this.#weather.refusedCalls > 0) return;
    let well = true;
    const stop = replica.line.onState(() => {
      well = false;
    });
    this.#clock.after(SECOND_MS, () => {
      stop();
      if (!well || replica.dead || this.#store.mode !== 'well') return;
      const still = alone.filter(({ key, version }) => replica.pins.peek(key)?.version === version);
      this.#checks.stillProvisional(
        replica,
        still.map(({ key }) => key),
      );
    });
  }

  /** The store is about to lose something. */
  #note(): void {
    for (const replica of this.#replicas) {
      if (replica.dead) continue;
      for (const key of this.#checks.keys) {
        const version = replica.pins.peek(key)?.version ?? 0;
        if (version > 0) this.#forgotten.push({ replica, lost: { key, version, at: this.#clock.now } });
      }
    }
  }

  #heal(): void {
    this.#healed = true;
    Object.assign(this.#weather, { refusedCalls: 0, lostAnswers: 0, lostChanges: 0 });
    this.#say('', 'all is well from here on');
    if (this.#store.mode !== 'well') this.#store.become('well');
    for (const [index, { line }] of this.#replicas.entries()) {
      line.heal();
      if (line.ready) this.#healsSoon(this.#replicas[index]!);
      this.#restart(index);
    }
  }

  #say(who: string, what: string): void {
    this.trace?.push(`${this.#clock.now.toFixed(3).padStart(10)} ${who.padEnd(6)}${what}`);
  }
}

/** Milliseconds: mostly few, seldom some thousands. */
function soon(dice: number): number {
  return dice < 0.7 ? 5 + dice * 300 : dice * 5000;
}
