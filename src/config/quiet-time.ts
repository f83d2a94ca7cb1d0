export interface QuietTimeOptions {
  /** How long nothing must have happened, in milliseconds. */
  readonly quietMs: number;
  /** How long to wait for that at most, from the first touch on, in milliseconds. */
  readonly longestMs: number;
  readonly run: () => void;
}

/** Runs something once when a burst of touches has ended. Does not keep the process alive. */
export class QuietTime {
  readonly #options: QuietTimeOptions;
  #timer: NodeJS.Timeout | undefined;
  #deadline = 0;
  #closed = false;

  constructor(options: QuietTimeOptions) {
    this.#options = options;
  }

  touch(): void {
    if (this.#closed) return;
    const { quietMs, longestMs, run } = this.#options;
    const now = performance.now();
    if (this.#timer === undefined) this.#deadline = now + longestMs;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        run();
      },
      Math.max(0, Math.min(quietMs, this.#deadline - now)),
    );
    this.#timer.unref();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }
}
