/** The timers of the service: lost request ends once a second, idle pins and the memories of policies at their interval. */
import type { PinStore } from '../pins/pin-store.ts';
import type { ModelPolicies } from '../routing/model-policies.ts';
import type { PolicyMemory } from '../routing/policy.ts';
import { CACHE_AWARE_DEFAULTS } from '../routing/policy-parameters.ts';
import type { Log } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { InFlightLedger, LogStreams } from '../workers/in-flight-ledger.ts';

export interface HousekeepingParts {
  readonly ledger: InFlightLedger;
  readonly ends: LogStreams;
  readonly pins: PinStore;
  readonly policies: Pick<ModelPolicies, 'all'>;
  readonly metrics: Metrics;
  readonly log: Log;
  /** Milliseconds, monotonic. */
  readonly clock: () => number;
}

export interface HousekeepingIntervals {
  /** `--max-idle-secs`; 0: pins never expire. */
  readonly maxIdleSecs: number;
  /** Between sweeps for idle pins; 0: no sweep. */
  readonly pinSweepSecs: number;
  /** Between visits to the memories of policies; 0: SMG's own interval, since a memory must stay within its bounds. */
  readonly policyTendSecs: number;
}

const LEDGER_SWEEP_MS = 1000;

/** Pins and memories do a bounded piece of work at a time, so that requests get their turn in between. */
export class Housekeeping {
  readonly #parts: HousekeepingParts;
  readonly #ledgerTimer: NodeJS.Timeout;
  #pinTimer: NodeJS.Timeout | undefined;
  #pinRest: NodeJS.Immediate | undefined;
  #policyTimer: NodeJS.Timeout | undefined;
  #policyRest: NodeJS.Immediate | undefined;

  constructor(parts: HousekeepingParts, intervals: HousekeepingIntervals) {
    this.#parts = parts;
    this.#ledgerTimer = setInterval(() => this.#sweepLedger(), LEDGER_SWEEP_MS);
    this.configure(intervals);
  }

  configure({ maxIdleSecs, pinSweepSecs, policyTendSecs }: HousekeepingIntervals): void {
    this.#stop();
    const tendMs = policyTendSecs > 0 ? policyTendSecs * 1000 : CACHE_AWARE_DEFAULTS.evictionIntervalMs;
    this.#policyTimer = setInterval(() => this.#visitPolicies(), tendMs);
    if (maxIdleSecs === 0 || pinSweepSecs === 0) return;
    this.#pinTimer = setInterval(() => {
      this.#parts.metrics.pinSweeps.cell(this.#parts.pins.kind).value += 1;
      this.#sweepPins(maxIdleSecs * 1000, 0);
    }, pinSweepSecs * 1000);
  }

  close(): void {
    clearInterval(this.#ledgerTimer);
    this.#stop();
  }

  #stop(): void {
    clearInterval(this.#pinTimer);
    clearInterval(this.#policyTimer);
    if (this.#pinRest !== undefined) clearImmediate(this.#pinRest);
    if (this.#policyRest !== undefined) clearImmediate(this.#policyRest);
    this.#policyRest = undefined;
  }

  #sweepLedger(): void {
    const { ledger, ends, log, clock } = this.#parts;
    const lost = ledger.sweep(clock(), ends);
    const count = lost.periodic_lost + lost.log_gone + lost.age;
    if (count > 0) log.warn('requests whose end was never told stopped counting', { count });
  }

  #sweepPins(maxIdleMs: number, before: number): void {
    const { pins, metrics, log, clock } = this.#parts;
    const removed = pins.sweep(clock(), maxIdleMs);
    metrics.pinsExpired.cell(pins.kind).value += removed;
    if (removed > 0) this.#pinRest = setImmediate(() => this.#sweepPins(maxIdleMs, before + removed));
    else if (before > 0) log.info('idle pins were forgotten', { count: before });
  }

  /** Leaves a visit alone that has not ended yet. */
  #visitPolicies(): void {
    if (this.#policyRest === undefined) this.#tend(this.#parts.policies.all.flatMap(({ memory }) => memory ?? []));
  }

  #tend(memories: readonly PolicyMemory[]): void {
    this.#policyRest = undefined;
    const [memory, ...others] = memories;
    if (memory === undefined) return;
    const left = memory.tend(this.#parts.clock()) ? memories : others;
    this.#policyRest = setImmediate(() => this.#tend(left));
  }
}
