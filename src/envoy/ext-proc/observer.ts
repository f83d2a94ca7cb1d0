import type { BodyPlan } from '../../picker/answer.ts';
import type { Phase } from './message.ts';

/** Why a request went on without a pick although the picker did not say so. */
export type PassCause = 'deadline' | 'internal_error' | 'protocol_error';

/** Where the streams report what happens, for counting (envoy 1, rule 25). */
export interface ExtProcObserver {
  /** `unknown`: bytes that are no ProcessingRequest, or one of a kind that is not known. */
  messageReceived(kind: Phase | 'unknown'): void;
  /** In full duplex each echoed piece counts. */
  answerSent(kind: Phase | 'immediate_response'): void;
  /** Once for each request head: why its body is read or not, the mode of the stream taken into account. */
  bodyPath(reason: BodyPlan['reason']): void;
  /** A body was asked for by mode override. */
  bodyRequested(): void;
  /** A body that was asked for did not come: Envoy does not allow the override, or the request ended before. */
  overrideIgnored(): void;
  passed(cause: PassCause): void;
  /** The picker threw or rejected. */
  pickFailed(error: unknown): void;
  /** A header value was left out because it holds characters that Envoy refuses (envoy 5.1). */
  headerLeftOut(name: string): void;
}
