const LONGEST_REFRESH_MS = 10_000;

/** How long pins live in the store: as long as here, and until the next visit of the last replica that used them. */
export class PinLifetime {
  /** 0: for ever. */
  maxIdleMs: number;

  constructor(maxIdleMs: number) {
    this.maxIdleMs = maxIdleMs;
  }

  /** Between two visits to the pins in use. */
  get refreshMs(): number {
    return this.maxIdleMs === 0 ? LONGEST_REFRESH_MS : Math.min(LONGEST_REFRESH_MS, Math.max(100, this.maxIdleMs / 20));
  }

  /** True for a pin that has been idle for so long that it is no more, swept or not. */
  isOver(idleMs: number): boolean {
    return this.maxIdleMs > 0 && idleMs >= this.maxIdleMs;
  }

  /** Milliseconds that a pin is kept which has been idle for so long; 0: for ever. */
  ofUse(idleMs: number): number {
    if (this.maxIdleMs === 0) return 0;
    return Math.ceil(Math.max(0, this.maxIdleMs - idleMs) + 2 * this.refreshMs);
  }
}
