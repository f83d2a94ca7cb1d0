import type { Outcome } from '../routing/decision.ts';
import type { OpaqueReason, PassReason } from '../telemetry/own-metrics.ts';
import type { BodyPlan, RefusalAnswer } from './answer.ts';
import type { BodyNotes, ReadRequest } from './read-request.ts';

/** A request that nobody sent, placed without any consequence (`Picker.rehearse`). */
export interface Rehearsed {
  readonly plan: BodyPlan;
  /** Why its body told nothing; null when it did, or was not read. */
  readonly opaque: OpaqueReason | null;
  /** Null when it is refused before routing. */
  readonly request: ReadRequest | null;
  /** Null likewise. */
  readonly outcome: Outcome | null;
  /** What its client would be told, without a request id; null when it is not refused. */
  readonly refusal: RefusalAnswer | null;
  /** Why Envoy would go on without a pick; null when it would not. */
  readonly pass: PassReason | null;
  /** In milliseconds. */
  readonly timing: { readonly readMs: number; readonly decideMs: number };
}

/** Keeps what would be counted. */
export class RehearsedNotes implements BodyNotes {
  opaque: OpaqueReason | null = null;

  partialBody(): void {}

  opaqueBody(reason: OpaqueReason): void {
    this.opaque = reason;
  }
}
