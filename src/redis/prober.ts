import { type StoreError, storeErrorOf } from './store-error.ts';

const EVERY_MS = 1000;
const FIRST_RETRY_MS = 100;
/** The store does not answer when a probe had no answer for this time. */
const OVERDUE_MS = 1000;
/** Calls that fail again within this time fail although probes are answered, as those for a part of a Cluster do. */
const CALM_MS = 10_000;

export interface ProberEvents<Found> {
  /** Asks the store for a write. */
  ask(): Promise<Found>;
  answered(ms: number, found: Found): void;
  refused(error: StoreError): void;
  overdue(): void;
  /** Whether the store can be waited for: then it is asked each second, else sooner and ever more seldom. */
  well(): boolean;
}

/** Asks a connected store at intervals whether it does its work; one question at a time. */
export class Prober<Found> {
  readonly #events: ProberEvents<Found>;
  #timer: NodeJS.Timeout | undefined;
  #late: NodeJS.Timeout | undefined;
  #retryMs = FIRST_RETRY_MS;
  #hurryMs = FIRST_RETRY_MS;
  #hurriedAt = Number.NEGATIVE_INFINITY;
  /** Of the question that is open; another connection begins another round. */
  #round = 0;
  #answering = false;

  constructor(events: ProberEvents<Found>) {
    this.#events = events;
  }

  /** True while the store answers, be it with errors. */
  get answering(): boolean {
    return this.#answering;
  }

  /** A connection is ready. */
  begin(): void {
    this.#retryMs = FIRST_RETRY_MS;
    this.#answering = true;
    this.#ask();
  }

  /** Calls failed, the store must not be waited for any more: find out soon when it can be, ever later when they do so again. */
  hurry(): void {
    if (this.#late !== undefined || !this.#answering) return;
    const now = performance.now();
    const calm = now - this.#hurriedAt > CALM_MS;
    this.#hurriedAt = now;
    this.#hurryMs = calm ? FIRST_RETRY_MS : Math.min(EVERY_MS, this.#hurryMs * 2);
    this.#retryMs = this.#hurryMs;
    this.#next();
  }

  /** The connection is gone. */
  end(): void {
    this.#round += 1;
    this.#answering = false;
    clearTimeout(this.#timer);
    clearTimeout(this.#late);
    this.#late = undefined;
  }

  #ask(): void {
    clearTimeout(this.#timer);
    const round = ++this.#round;
    const start = performance.now();
    this.#late = setTimeout(() => {
      this.#answering = false;
      this.#events.overdue();
    }, OVERDUE_MS);
    const settled = (tell: () => void): void => {
      if (round !== this.#round) return;
      clearTimeout(this.#late);
      this.#late = undefined;
      this.#answering = true;
      tell();
      // The listeners may have ended the connection.
      if (round === this.#round) this.#next();
    };
    this.#events.ask().then(
      (found) => settled(() => this.#events.answered(performance.now() - start, found)),
      (error: unknown) => settled(() => this.#events.refused(storeErrorOf(error))),
    );
  }

  #next(): void {
    clearTimeout(this.#timer);
    const well = this.#events.well();
    this.#timer = setTimeout(() => this.#ask(), well ? EVERY_MS : this.#retryMs);
    this.#retryMs = well ? FIRST_RETRY_MS : Math.min(EVERY_MS, this.#retryMs * 2);
  }
}
