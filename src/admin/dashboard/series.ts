/** What counters did lately: how fast each grew, a point every few seconds. Sampled beside requests, never by them. */

/** A counter to be followed. */
export interface NamedCounter {
  readonly name: string;
  /** Its value; never falls. */
  readonly read: () => number;
}

/** Growth per second of each counter, the oldest point first. Points of a time without samples are null. */
export interface SeriesReading {
  readonly stepSecs: number;
  /** Seconds since the epoch, at the end of each step. */
  readonly at: readonly number[];
  readonly rates: Readonly<Record<string, readonly number[]>>;
}

export const STEP_SECS = 5;
/** 15 minutes. */
export const POINTS = 180;

export class CounterSeries {
  readonly #counters: readonly NamedCounter[];
  readonly #at = new Float64Array(POINTS);
  readonly #rates: readonly Float64Array[];
  readonly #last: number[];
  #lastAt: number;
  #count = 0;

  /** @param now seconds since the epoch */
  constructor(counters: readonly NamedCounter[], now: number) {
    this.#counters = counters;
    this.#rates = counters.map(() => new Float64Array(POINTS));
    this.#last = counters.map(({ read }) => read());
    this.#lastAt = now;
  }

  /** Takes a point. A clock that was set back gives the usual step. */
  sample(now: number): void {
    const slot = this.#count % POINTS;
    const passed = now > this.#lastAt ? now - this.#lastAt : STEP_SECS;
    this.#counters.forEach(({ read }, i) => {
      const value = read();
      const rates = this.#rates[i];
      if (rates !== undefined) rates[slot] = Math.max(0, value - (this.#last[i] ?? 0)) / passed;
      this.#last[i] = value;
    });
    this.#at[slot] = now;
    this.#lastAt = now;
    this.#count += 1;
  }

  read(): SeriesReading {
    const order = this.#order();
    const rates = this.#counters.map(({ name }, i) => [
      name,
      order.map((slot) => rounded(this.#rates[i]?.[slot] ?? 0)),
    ]);
    return {
      stepSecs: STEP_SECS,
      at: order.map((slot) => Math.round(this.#at[slot] ?? 0)),
      rates: Object.fromEntries(rates),
    };
  }

  /** How much a counter grew over all points. */
  grown(name: string): number {
    const rates = this.#rates[this.#counters.findIndex((counter) => counter.name === name)];
    if (rates === undefined) return 0;
    return Math.round(this.#order().reduce((sum, slot) => sum + (rates[slot] ?? 0) * STEP_SECS, 0));
  }

  #order(): readonly number[] {
    const kept = Math.min(this.#count, POINTS);
    return Array.from({ length: kept }, (_, i) => (this.#count - kept + i) % POINTS);
  }
}

function rounded(rate: number): number {
  return Math.round(rate * 100) / 100;
}
