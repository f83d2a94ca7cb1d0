/** What must hold in every run. Each check has a name and says what it saw. */
import type { Pin } from '../../../src/pins/pin-store.ts';
import type { PinChange, StoredPin } from '../../../src/pins/shared/pin-backend.ts';
import { PinLifetime } from '../../../src/pins/shared/pin-lifetime.ts';
import type { SimReplica } from './sim-replica.ts';
import { CLAIM_TIMEOUT_MS, delivers, isCalm, staysPut, type Traits } from './traits.ts';
import { writeOf } from './watched-pins.ts';

export type CheckName =
  | 'one version, one value'
  | 'versions in the store never fall'
  | 'one worker for a conversation'
  | 'a conversation never goes back'
  | 'moves are seen in time'
  | 'a deleted key is not held'
  | 'no replica goes back'
  | 'no local flap'
  | 'no pin is provisional while the store is well'
  | 'waits are bounded'
  | 'outages heal in a second'
  | 'all agree in the end'
  | 'what the store forgot comes back'
  | 'nothing leaks';

export class Broken extends Error {
  readonly check: CheckName;

  constructor(check: CheckName, what: string, at: number) {
    super(`${check}: at ${at.toFixed(3)} ms ${what}`);
    this.check = check;
  }
}

/** A turn that was placed. */
export interface Turn {
  readonly conversation: number;
  readonly replica: SimReplica;
  readonly key: string;
  readonly startedAt: number;
  readonly placedAt: number;
  readonly workerId: string;
  readonly pin: Pin;
}

/** What a replica held when the store lost it. */
export interface Forgotten {
  readonly key: string;
  readonly version: number;
  readonly at: number;
}

/** The last write of a key in the store. */
interface Head extends StoredPin {
  readonly at: number;
}

/** What a check knows of a key at one life of a replica. */
interface Known {
  pin: Pin | null;
  /** When it was last taken in. */
  since: number;
  /** Highest version that was held, and that was told. */
  held: number;
  told: number;
  /** The old pin that turns go by, and since when. */
  stale: number;
  staleSince: number;
}

const NOTHING: readonly number[] = [];
const SLACK_MS = 1;
const TOMBSTONE_MS = 3_600_000;

export class Checks {
  readonly keys = new Set<string>();
  readonly #traits: Traits;
  readonly #now: () => number;
  readonly #calm: boolean;
  readonly #steady: boolean;
  /** In which a pin in use is compared. */
  readonly #visitMs: number;
  /** Candidates by key and version: one, unless the clock of a store that loses writes steps back. */
  readonly #given = new Map<string, Set<string>>();
  readonly #heads = new Map<string, Head>();
  readonly #known = new Map<SimReplica, Map<string, Known>>();
  readonly #turns: Turn[][] = [];

  constructor(traits: Traits, now: () => number) {
    this.#traits = traits;
    this.#now = now;
    this.#calm = isCalm(traits);
    // The store loses nothing and always answers: what holds without exception.
    this.#steady = this.#calm && !traits.losses;
    // A visit takes two calls, after the one before it.
    this.#visitMs = new PinLifetime(traits.maxIdleMs).refreshMs + 8 * traits.latencyMs + SLACK_MS;
  }

  /** A call was carried out that found and left these pins. */
  wrote(name: string, before: StoredPin | null, after: StoredPin | null): void {
    if (name === '' || after === null) return;
    this.keys.add(name);
    if (before !== null && after.version === before.version && same(before, after)) return;
    if (before !== null && after.version <= before.version)
      this.#broken('versions in the store never fall', `${name} went from ${text(before)} to ${text(after)}`);
    const version = `${name} ${after.version}`;
    const given = this.#given.get(version) ?? new Set();
    this.#given.set(version, given.add(after.candidates.join()));
    if (given.size > 1 && !this.#traits.losses) this.#broken('one version, one value', `${version} is ${[...given]}`);
    // It had ended; in an outage a replica may have gone on with an earlier version.
    if (before === null && !this.#calm) this.#beginAnew(name);
    this.#heads.set(name, { ...after, at: this.#now() });
  }

  #beginAnew(name: string): void {
    for (const keys of this.#known.values()) {
      const known = keys.get(name);
      if (known === undefined) continue;
      known.held = Math.max(0, known.pin?.version ?? 0);
      known.told = 0;
    }
  }

  told(replica: SimReplica, change: PinChange): void {
    const known = this.#of(replica, change.name);
    // Of other keys it keeps nothing.
    const holds = known.pin !== null || replica.pins.peek(change.name) !== undefined;
    if (!holds && (this.#traits.changesOvertake || !isWaiting(replica, change.name))) return;
    known.told = Math.max(known.told, change.version);
  }

  /** Something has happened: looks at all that is held. */
  rested(replicas: readonly SimReplica[]): void {
    for (const replica of replicas) {
      if (replica.dead) continue;
      for (const key of this.keys) this.#looked(replica, key, replica.pins.peek(key) ?? null);
      replica.pins.recent.clear();
    }
  }

  #looked(replica: SimReplica, key: string, pin: Pin | null): void {
    const known = this.#of(replica, key);
    const last = known.pin;
    const recent = replica.pins.recent.get(key) ?? NOTHING;
    known.pin = pin;
    // Of what it let go it keeps nothing, and a change from before may be on its way.
    const letGo = pin === null || recent.includes(0);
    if (letGo && (!this.#steady || this.#forgottenDelete(key))) {
      known.held = 0;
      if (!isWaiting(replica, key)) known.told = 0;
    }
    // Changes that are overtaken could be told from others only by what is held. A subscription keeps their order.
    if (letGo && this.#traits.changesOvertake) known.told = 0;
    if (pin === null) return;
    if (last === null || letGo) known.since = this.#now();
    if (last?.version === pin.version && last.candidates === pin.candidates && pin.version >= known.told) return;
    const who = `${replica.name} holds ${text(pin)} for ${key}`;
    if (pin.version < 0) {
      if (this.#calm && replica.line.ready) this.#broken('no pin is provisional while the store is well', who);
      if (last === null || last.version === pin.version) return;
      const wanted = (over: number): boolean => replica.pins.asked.has(writeOf(key, over, pin.candidates));
      if (!wanted(last.version) && !recent.some(wanted))
        this.#broken('no local flap', `${who}, which nobody wanted over ${text(last)}`);
      return;
    }
    if (pin.candidates.length === 0) this.#broken('a deleted key is not held', who);
    const given = this.#given.get(`${key} ${pin.version}`) ?? new Set();
    if (!given.has(pin.candidates.join()))
      this.#broken('one version, one value', `${who}, and the store gave ${[...given]}`);
    if (pin.version < known.held) this.#broken('no replica goes back', `${who} after ${known.held}`);
    if (pin.version < known.told && !this.#traits.losses)
      this.#broken('moves are seen in time', `${who} and was told of ${known.told}`);
    known.held = pin.version;
  }

  placed(turn: Turn): void {
    const { conversation, replica, key, startedAt, workerId, pin } = turn;
    const turns = this.#turns[conversation] ?? [];
    this.#turns[conversation] = turns;
    const who = `a turn of ${key} went by ${replica.name} to ${workerId} by ${text(pin)}`;
    // A key that has as much in flight everywhere as it may goes beside its pin.
    if (!pin.candidates.includes(workerId) && this.#calm && !this.#traits.caps)
      this.#broken('one worker for a conversation', `${who}, beside its pin`);
    if (this.#steady) {
      if (this.#mayHaveEnded(startedAt - this.#lastTold(turns))) turns.length = 0;
      for (const other of turns) {
        const told = delivers(this.#traits) ? this.#traits.deliveryMs : Number.POSITIVE_INFINITY;
        const bound = staysPut(this.#traits) ? 0 : told;
        if (other.placedAt + bound + SLACK_MS < startedAt && pin.version < other.pin.version)
          this.#broken('a conversation never goes back', `${who}, after ${text(other.pin)} at ${other.placedAt}`);
        if (staysPut(this.#traits) && workerId !== other.workerId)
          this.#broken('one worker for a conversation', `${who}, and one at ${other.placedAt} to ${other.workerId}`);
      }
      this.#seenInTime(turn, who);
    }
    turns.push(turn);
  }

  /** A put was answered, or a turn was placed, after so long. */
  waited(who: string, ms: number): void {
    // Every further question of one request waits for a millisecond at least.
    if (ms > CLAIM_TIMEOUT_MS + 3) this.#broken('waits are bounded', `${who} has waited for ${ms} ms`);
  }

  stillProvisional(replica: SimReplica, keys: readonly string[]): void {
    if (keys.length > 0) this.#broken('outages heal in a second', `${replica.name} still holds provisional ${keys}`);
  }

  /** All that was lost is healed, and all were told to compare. */
  agreed(replica: SimReplica, stored: (key: string) => StoredPin | null): void {
    for (const { key, candidates, version } of replica.pins.entries) {
      const pin = stored(key);
      if (pin === null || pin.version !== version || pin.candidates.join() !== candidates.join())
        this.#broken(
          'all agree in the end',
          `${replica.name} holds ${text({ candidates, version })} for ${key}, and the store ${pin && text(pin)}`,
        );
    }
  }

  /** A replica that holds the key since then knew this version of it when the store lost it. */
  regained(replica: SimReplica, { key, version, at }: Forgotten, stored: StoredPin | null): void {
    const { pin, since } = this.#of(replica, key);
    if (pin === null || since > at) return;
    if (stored === null || stored.version < version)
      this.#broken(
        'what the store forgot comes back',
        `${key} was known of ${version}, and is ${stored && text(stored)}`,
      );
  }

  leaked(who: string, what: string): void {
    this.#broken('nothing leaks', `${who} still has ${what}`);
  }

  #seenInTime({ replica, key, startedAt, placedAt, pin }: Turn, who: string): void {
    const known = this.#of(replica, key);
    const head = this.#heads.get(key);
    const now = this.#now();
    const { deliveryMs } = this.#traits;
    // A request that joined a put from before a delete comes before that, too.
    const joined = placedAt > startedAt && head?.candidates.length === 0;
    if (head === undefined || pin.version >= head.version || joined || startedAt <= head.at + deliveryMs + SLACK_MS) {
      known.stale = 0;
      return;
    }
    if (delivers(this.#traits)) this.#broken('moves are seen in time', `${who}, ${text(head)} since ${head.at}`);
    if (known.stale !== pin.version) [known.stale, known.staleSince] = [pin.version, now];
    if (now - known.staleSince > this.#visitMs)
      this.#broken('moves are seen in time', `${who}, which is old since ${known.staleSince}; ${text(head)} holds`);
  }

  /** The last use that the store was told of: a replica that dies or is full takes those since its last visit with it. */
  #lastTold(turns: readonly Turn[]): number {
    let last = Number.NEGATIVE_INFINITY;
    const full = this.#traits.maxPins < this.#traits.conversations;
    for (const { replica, placedAt, startedAt } of turns) {
      const asked = placedAt > startedAt;
      const visited = !full && replica.diedAt > placedAt + this.#visitMs;
      if (asked || visited) last = Math.max(last, startedAt);
    }
    return last;
  }

  /** After so long without a use. */
  #mayHaveEnded(ms: number): boolean {
    return this.#traits.maxIdleMs > 0 && ms >= this.#traits.maxIdleMs;
  }

  /** Nothing tells any more that the key was deleted: who missed that may bring it back. */
  #forgottenDelete(key: string): boolean {
    const head = this.#heads.get(key);
    return head !== undefined && head.candidates.length === 0 && this.#now() > head.at + TOMBSTONE_MS;
  }

  #of(replica: SimReplica, key: string): Known {
    const keys = this.#known.get(replica) ?? new Map<string, Known>();
    this.#known.set(replica, keys);
    const known = keys.get(key) ?? { pin: null, since: 0, held: 0, told: 0, stale: 0, staleSince: 0 };
    keys.set(key, known);
    return known;
  }

  #broken(check: CheckName, what: string): never {
    throw new Broken(check, what, this.#now());
  }
}

/** A put of the key is waited for. */
function isWaiting({ pins }: SimReplica, key: string): boolean {
  return (pins.waiting.get(key) ?? 0) > 0;
}

function same(a: StoredPin, b: StoredPin): boolean {
  return a.candidates.join() === b.candidates.join();
}

function text({ candidates, version }: StoredPin): string {
  return `${candidates.join('+') || 'nobody'}@${version}`;
}
