import type { BreakerState } from './worker-kinds.ts';

/** What one attempt says of its worker. */
export type Outcome = 'success' | 'failure';

export interface BreakerRules {
  /** Failures in a row that open a closed breaker (`--cb-failure-threshold`). */
  readonly failureThreshold: number;
  /** Successes in a row that close a half-open one (`--cb-success-threshold`). */
  readonly successThreshold: number;
  /** How long it stays open, in milliseconds (`--cb-timeout-duration-secs`). */
  readonly openMs: number;
}

/** SMG's value for "never" (`--disable-circuit-breaker`): outcomes still count. */
export const NEVER_OPENS = 2 ** 32 - 1;

/** Defaults of the flags (policies 7). */
export const DEFAULT_BREAKER: BreakerRules = { failureThreshold: 10, successThreshold: 3, openMs: 60_000 };

/** What a worker's answer says of it; null for 429, which tells of its load and not of its health (policies 2.3). */
export function outcomeOf(status: number): Outcome | null {
  switch (status) {
    case 429:
      return null;
    case 408:
    case 500:
    case 502:
    case 503:
    case 504:
      return 'failure';
    default:
      return 'success';
  }
}

/** What others may see of a breaker. */
export interface BreakerView {
  readonly state: BreakerState;
  /** Length of the present run. At most one of the two is above 0. */
  readonly consecutiveFailures: number;
  readonly consecutiveSuccesses: number;
  /** Outcomes taken in since the worker was registered. */
  readonly failures: number;
  readonly successes: number;
  readonly transitions: Readonly<BreakerTransitions>;
}

/** Changes of state since the worker was registered: the four that there are. */
export interface BreakerTransitions {
  /** Closed to open. */
  opened: number;
  /** Open to half-open. */
  halfOpened: number;
  /** Half-open to open. */
  reopened: number;
  /** Half-open to closed. */
  closed: number;
}

/**
 * The circuit breaker of one worker (policies 2.3). Closed: the n-th failure in a row opens it. Open: outcomes are counted
 * and change nothing, until its time is over. Half-open: all requests pass; a failure opens it, enough successes in a row
 * close it.
 */
export class Breaker implements BreakerView {
  readonly #rules: BreakerRules;
  #state: BreakerState = 'closed';
  #openedAt = 0;
  #failureRun = 0;
  #successRun = 0;
  #failures = 0;
  #successes = 0;
  readonly transitions: BreakerTransitions = { opened: 0, halfOpened: 0, reopened: 0, closed: 0 };

  constructor(rules: BreakerRules) {
    this.#rules = rules;
  }

  get state(): BreakerState {
    return this.#state;
  }

  get consecutiveFailures(): number {
    return this.#failureRun;
  }

  get consecutiveSuccesses(): number {
    return this.#successRun;
  }

  get failures(): number {
    return this.#failures;
  }

  get successes(): number {
    return this.#successes;
  }

  /** Takes in an outcome; true when it changed the state. `now` is in milliseconds, monotonic. */
  record(outcome: Outcome, now: number): boolean {
    if (outcome === 'success') {
      this.#successes += 1;
      this.#failureRun = 0;
      this.#successRun += 1;
      if (this.#state !== 'half_open' || this.#successRun < this.#rules.successThreshold) return false;
      this.transitions.closed += 1;
      this.#enter('closed');
      return true;
    }
    this.#failures += 1;
    this.#successRun = 0;
    this.#failureRun += 1;
    const opens = this.#state === 'closed' ? this.#failureRun >= this.#rules.failureThreshold : this.#state !== 'open';
    if (!opens) return false;
    if (this.#state === 'closed') this.transitions.opened += 1;
    else this.transitions.reopened += 1;
    this.#state = 'open';
    this.#openedAt = now;
    return true;
  }

  /** Milliseconds until it is half-open; 0 when it is due, or not open. */
  openFor(now: number): number {
    return this.#state === 'open' ? Math.max(0, this.#openedAt + this.#rules.openMs - now) : 0;
  }

  /** Half-opens it when its time is over; true when that changed the state. */
  elapse(now: number): boolean {
    if (this.#state !== 'open' || this.openFor(now) > 0) return false;
    this.transitions.halfOpened += 1;
    this.#enter('half_open');
    return true;
  }

  #enter(state: 'closed' | 'half_open'): void {
    this.#state = state;
    this.#failureRun = 0;
    this.#successRun = 0;
  }
}
