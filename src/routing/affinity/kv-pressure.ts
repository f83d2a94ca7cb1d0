import type { Worker } from '../../workers/worker.ts';

/** Full at this share: nothing reports more, so a threshold of it turns the test off (policies 1.6.1). */
const OFF = 1;

/** Tells when caches are so full, or so unevenly full, that load has to decide instead of prefixes (policies 1.6.3). */
export class KvPressure {
  readonly #overload: number;
  readonly #balance: number;
  /** False when no report could make it fire. */
  readonly #on: boolean;

  /** Both in shares of the cache; from 1 on they are off. SMG keeps them, but not what it compares, in single precision. */
  constructor(overloadThreshold: number, balanceThreshold: number) {
    this.#overload = overloadThreshold >= OFF ? Number.POSITIVE_INFINITY : Math.fround(overloadThreshold);
    this.#balance = balanceThreshold >= OFF ? Number.POSITIVE_INFINITY : Math.fround(balanceThreshold);
    this.#on = overloadThreshold < OFF || balanceThreshold < OFF;
  }

  /** By the last poll's reports of the eligible workers; those without one have no say. */
  fires(eligible: readonly Worker[]): boolean {
    if (!this.#on) return false;
    let least = Number.POSITIVE_INFINITY;
    let most = Number.NEGATIVE_INFINITY;
    for (let i = 0; i < eligible.length; i++) {
      const report = eligible[i]?.engine.current ?? null;
      if (report === null) continue;
      least = Math.min(least, report.tokenUsage);
      most = Math.max(most, report.tokenUsage);
    }
    if (most === Number.NEGATIVE_INFINITY) return false;
    return most > this.#overload || most - least > this.#balance;
  }
}
