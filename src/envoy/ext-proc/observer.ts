import type { PickObserver } from '../pick/pick-observer.ts';
import type { Phase } from './message.ts';
import type { OutgoingKind } from './outlet.ts';

/** Where the streams report what happens, for counting (envoy 1, rule 25). */
export interface ExtProcObserver extends PickObserver {
  /** `unknown`: bytes that are no ProcessingRequest, or one of a kind that is not known. */
  messageReceived(kind: Phase | 'unknown'): void;
  /** In full duplex each echoed piece counts. */
  answerSent(kind: OutgoingKind): void;
  /** A body was asked for by mode override. */
  bodyRequested(): void;
  /** A body that was asked for did not come: Envoy does not allow the override, or the request ended before. */
  overrideIgnored(): void;
}
