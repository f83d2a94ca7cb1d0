import type { StoreState } from '../pins/shared/pin-backend.ts';

/** Late or failed answers in a row after which the store is asked no more. */
const FAILURES_TO_OPEN = 3;

/**
 * Whether the store can be waited for. It opens at once when the connection is lost, and after some late or failed answers
 * in a row; only an answered probe closes it. Pure: is told the time.
 */
export class StoreGate {
  #state: StoreState = 'down';
  #failures = 0;
  #failedAt = Number.NEGATIVE_INFINITY;

  get state(): StoreState {
    return this.#state;
  }

  /** A call was answered in time. */
  answered(): void {
    this.#failures = 0;
  }

  /**
   * A call was late or failed. Those of one moment count once: they waited through the same pause, which may be our own.
   *
   * @param now milliseconds, of any clock
   */
  failed(now: number, boundMs: number): void {
    if (this.#state !== 'up' || now - this.#failedAt < boundMs) return;
    this.#failedAt = now;
    this.#failures += 1;
    if (this.#failures >= FAILURES_TO_OPEN) this.#become('down');
  }

  /** There is no connection, or the probe is overdue or was refused: the store does not do what it is asked. */
  lost(): void {
    this.#become('down');
  }

  /** A probe was answered. */
  probed(ms: number, boundMs: number): void {
    if (ms <= boundMs) {
      if (this.#state !== 'up') this.#become('up');
      else this.#failures = 0;
    } else if (this.#state === 'up') {
      // One late answer may be our own pause.
      this.#failures += 1;
      if (this.#failures >= FAILURES_TO_OPEN) this.#become('slow');
    } else {
      this.#become('slow');
    }
  }

  #become(state: StoreState): void {
    this.#state = state;
    this.#failures = 0;
  }
}
