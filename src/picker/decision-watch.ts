import type { Outcome } from '../routing/decision.ts';
import type { PassReason, RefusalCode } from '../telemetry/own-metrics.ts';

/** Told of every request that was decided, while it is decided: hot path. */
export interface DecisionWatch {
  /**
   * Placed, or refused by routing.
   *
   * @param pickId empty for a refusal
   * @param fromBody the body was read for it
   * @param startedAt when the request was read: milliseconds, monotonic
   */
  decided(pickId: string, outcome: Outcome, fromBody: boolean, startedAt: number): void;
  /** Refused before it could be routed, or given up: Envoy goes on without a pick. */
  undecided(why: RefusalCode | PassReason, fromBody: boolean, startedAt: number): void;
}
