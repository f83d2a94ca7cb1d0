import type { Random } from '../util/random.ts';

/** How often a prefill is tried, and when (policies 5). */
export interface RetryRules {
  /** Tries for one request, the first included. */
  readonly mostTries: number;
  readonly initialMs: number;
  readonly maxMs: number;
  readonly multiplier: number;
  /** Share of the pause by which it may be longer or shorter. */
  readonly jitter: number;
}

/** Pause after so many failed tries, in milliseconds. */
export function retryDelayMs(
  { initialMs, maxMs, multiplier, jitter }: RetryRules,
  failed: number,
  random: Random,
): number {
  const base = Math.min(initialMs * multiplier ** (failed - 1), maxMs);
  return base * (1 + jitter * (2 * random() - 1));
}

const RETRIED: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

/** True for a failure that another try may not meet (policies 5, decisions 31). */
export function isRetried(status: number): boolean {
  return RETRIED.has(status);
}
