/** The timers of the service: lost request ends once a second, idle pins at their interval. */
import type { RequestEnds } from '../picker/request-ends.ts';
import type { PinStore } from '../pins/pin-store.ts';
import type { Log } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { InFlightLedger } from '../workers/in-flight-ledger.ts';

export interface HousekeepingParts {
  readonly ledger: InFlightLedger;
  readonly ends: RequestEnds;
  readonly pins: PinStore;
  readonly metrics: Metrics;
  readonly log: Log;
  /** Milliseconds, monotonic. */
  readonly clock: () => number;
}

export interface IdleLimits {
  /** `--max-idle-secs`; 0: pins never expire. */
  readonly maxIdleSecs: number;
  /** `--eviction-interval` in seconds; 0: no sweep. */
  readonly evictionIntervalSecs: number;
}

const LEDGER_SWEEP_MS = 1000;

export class Housekeeping {
  readonly #parts: HousekeepingParts;
  readonly #ledgerTimer: NodeJS.Timeout;
  #pinTimer: NodeJS.Timeout | undefined;
  #rest: NodeJS.Immediate | undefined;

  constructor(parts: HousekeepingParts, limits: IdleLimits) {
    this.#parts = parts;
    this.#ledgerTimer = setInterval(() => this.#sweepLedger(), LEDGER_SWEEP_MS);
    this.configure(limits);
  }

  configure({ maxIdleSecs, evictionIntervalSecs }: IdleLimits): void {
    this.#stopPins();
    if (maxIdleSecs === 0 || evictionIntervalSecs === 0) return;
    this.#pinTimer = setInterval(() => {
      this.#parts.metrics.pinSweeps.cell('memory').value += 1;
      this.#sweepPins(maxIdleSecs * 1000, 0);
    }, evictionIntervalSecs * 1000);
  }

  close(): void {
    clearInterval(this.#ledgerTimer);
    this.#stopPins();
  }

  #stopPins(): void {
    clearInterval(this.#pinTimer);
    if (this.#rest !== undefined) clearImmediate(this.#rest);
  }

  #sweepLedger(): void {
    const { ledger, ends, log, clock } = this.#parts;
    const lost = ledger.sweep(clock(), ends);
    const count = lost.periodic_lost + lost.log_gone + lost.age;
    if (count > 0) log.warn('requests whose end was never told stopped counting', { count });
  }

  /** The store removes a bounded number at a time, so that requests get their turn in between. */
  #sweepPins(maxIdleMs: number, before: number): void {
    const { pins, metrics, log, clock } = this.#parts;
    const removed = pins.sweep(clock(), maxIdleMs);
    metrics.pinsExpired.cell('memory').value += removed;
    if (removed > 0) this.#rest = setImmediate(() => this.#sweepPins(maxIdleMs, before + removed));
    else if (before > 0) log.info('idle pins were forgotten', { count: before });
  }
}
