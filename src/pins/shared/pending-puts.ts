import type { Timers } from '../../util/timers.ts';
import type { Pin } from '../pin-store.ts';
import type { Asked } from './held-pins.ts';
import type { StoredPin } from './pin-backend.ts';

/** A write that the store was asked for and has not answered. */
export class PendingPut implements Asked {
  readonly key: string;
  readonly name: string;
  readonly candidates: readonly string[];
  readonly over: number;
  /** The store's version that it is to replace. */
  readonly expected: number;
  /** When the request began that uses the key, and has waited since. */
  readonly usedAt: number;
  deadline: number;
  /** Was given a moment more, once. */
  excused = false;
  /** The latest change of the key that came before the answer, which may be older. */
  seen: StoredPin | null = null;
  /** False once the requests that wait for it have been given a pin. */
  waited = true;
  readonly pin: Promise<Pin>;
  #give: (pin: Pin) => void = () => {};

  constructor(
    put: Pick<PendingPut, 'key' | 'name' | 'candidates' | 'over' | 'expected'>,
    usedAt: number,
    timeoutMs: number,
  ) {
    this.key = put.key;
    this.name = put.name;
    this.candidates = put.candidates;
    this.over = put.over;
    this.expected = put.expected;
    this.usedAt = usedAt;
    this.deadline = usedAt + timeoutMs;
    this.pin = new Promise((resolve) => {
      this.#give = resolve;
    });
  }

  give(pin: Pin): void {
    this.waited = false;
    this.#give(pin);
  }
}

/** A timer that fires later by more than this was held up by other work of the process, or by a machine without time for it. */
const HELD_UP_MS = 5;
/** Part of the bound that an answer has then to be read: the store may not even have been asked before. */
const MOMENT = 0.5;
/** Beyond this there is none: a decision has 250 ms in all, and a request without one has no worker. */
const LONGEST_MS = 225;

/** Writes in flight, one a key; tells which have waited long enough, with one timer for all. */
export class PendingPuts {
  readonly #byName = new Map<string, PendingPut>();
  readonly #timers: Timers;
  readonly #clock: () => number;
  readonly #late: (put: PendingPut) => void;
  #stopTimer: () => void = () => {};
  #wakeAt = Number.POSITIVE_INFINITY;

  constructor(timers: Timers, clock: () => number, late: (put: PendingPut) => void) {
    this.#timers = timers;
    this.#clock = clock;
    this.#late = late;
  }

  get(name: string): PendingPut | undefined {
    return this.#byName.get(name);
  }

  add(put: PendingPut): void {
    this.#byName.set(put.name, put);
    this.#wakeBy(put.deadline);
  }

  /** The store has answered, or never will. */
  remove(put: PendingPut): void {
    if (this.#byName.get(put.name) === put) this.#byName.delete(put.name);
  }

  close(): void {
    this.#stopTimer();
    this.#byName.clear();
  }

  #wakeBy(at: number): void {
    if (at >= this.#wakeAt) return;
    this.#stopTimer();
    this.#wakeAt = at;
    this.#stopTimer = this.#timers.afterReading(Math.max(1, at - this.#clock()), () => this.#expire());
  }

  #expire(): void {
    const now = this.#clock();
    const heldUp = now - this.#wakeAt > HELD_UP_MS;
    this.#wakeAt = Number.POSITIVE_INFINITY;
    let next = Number.POSITIVE_INFINITY;
    for (const put of this.#byName.values()) {
      if (!put.waited) continue;
      if (heldUp && !put.excused) this.#excuse(put, now);
      if (put.deadline <= now) this.#late(put);
      else next = Math.min(next, put.deadline);
    }
    this.#wakeBy(next);
  }

  /** That this process did nothing for a while says nothing of the store. */
  #excuse(put: PendingPut, now: number): void {
    put.excused = true;
    const moment = Math.min(now + (put.deadline - put.usedAt) * MOMENT, put.usedAt + LONGEST_MS);
    put.deadline = Math.max(put.deadline, moment);
  }
}
