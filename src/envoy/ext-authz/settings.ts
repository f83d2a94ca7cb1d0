import type { PickObserver } from '../pick/pick-observer.ts';
import type { RequestPicker } from '../pick/request-picker.ts';

/** What an answer to a check says: go on, or this to the client. */
export type CheckAnswer = 'ok_response' | 'denied_response';

/** Where checks report what happens, for counting. */
export interface ExtAuthzObserver extends PickObserver {
  /** `unknown`: bytes that are no CheckRequest. */
  messageReceived(kind: 'check_request' | 'unknown'): void;
  answerSent(kind: CheckAnswer): void;
}

export interface ExtAuthzOptions {
  readonly picker: RequestPicker;
  readonly observer: ExtAuthzObserver;
  /**
   * Header that carries the destination to gateways that read no metadata (decisions 21): a lower-case name, empty for none,
   * `auto` for `x-gateway-destination-endpoint`. Never sent to Envoys that we configured.
   */
  readonly destinationHeader: string;
  /** Longest wait for a decision in milliseconds; then the request passes without a pick. 250 by decisions 11. */
  readonly decisionTimeoutMs: number;
}

/** The options, with what is worked out of them once. */
export interface ExtAuthzSettings extends ExtAuthzOptions {
  readonly controlHeaders: ReadonlySet<string>;
}
