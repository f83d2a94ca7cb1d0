export interface BackoffOptions {
  readonly firstMs: number;
  readonly longestMs: number;
  /** Of [0, 1). */
  readonly random: () => number;
}

/** Pauses between tries: each twice as long as the one before, and shortened by up to a half, so that replicas spread out. */
export class Backoff {
  readonly #options: BackoffOptions;
  #nextMs: number;

  constructor(options: BackoffOptions) {
    this.#options = options;
    this.#nextMs = options.firstMs;
  }

  /** The pause before the next try, in milliseconds. */
  next(): number {
    const { longestMs, random } = this.#options;
    const whole = this.#nextMs;
    this.#nextMs = Math.min(2 * whole, longestMs);
    return whole * (1 - random() / 2);
  }

  reset(): void {
    this.#nextMs = this.#options.firstMs;
  }
}
