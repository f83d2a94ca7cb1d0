import type { BodyPlan } from '../../picker/answer.ts';

/** Why a request went on without a pick although the picker did not say so. */
export type PassCause = 'deadline' | 'internal_error' | 'protocol_error';

/** Where a protocol adapter reports what became of requests, for counting (envoy 1, rule 25). */
export interface PickObserver {
  /** Once for each request head: why its body is read or not, what the protocol can give taken into account. */
  bodyPath(reason: BodyPlan['reason']): void;
  passed(cause: PassCause): void;
  /** The picker threw or rejected. */
  pickFailed(error: unknown): void;
  /** A header value was left out because it holds characters that Envoy refuses (envoy 5.1). */
  headerLeftOut(name: string): void;
}
