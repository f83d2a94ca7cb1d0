import type { Rate } from './limits.ts';

/** A token bucket: so many at once, and so many a second in the long run. */
export class Budget {
  readonly #burst: number;
  readonly #perMs: number;
  #left: number;
  #filledAt: number;

  /** @param now milliseconds of any steady clock, the same as for {@link take} */
  constructor(rate: Rate, now: number) {
    this.#burst = rate.burst;
    this.#perMs = rate.perSecond / 1000;
    this.#left = rate.burst;
    this.#filledAt = now;
  }

  /** False when there is none left. */
  take(now: number): boolean {
    if (this.#left < 1) {
      // Filled only when it runs out: until then the time does not matter.
      this.#left = Math.min(this.#burst, this.#left + (now - this.#filledAt) * this.#perMs);
      this.#filledAt = now;
      if (this.#left < 1) return false;
    }
    this.#left -= 1;
    return true;
  }
}
