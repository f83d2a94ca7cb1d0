import type { RequestPicker } from '../pick/request-picker.ts';

/** What a stream asks of the service behind it. */
export interface StreamPicker extends RequestPicker {
  /** A stream that Envoy keeps open until the response has ended is over (envoy 3.2). Not the only sign of the end. */
  streamEnded(pickId: string): void;
  /**
   * The response to a pick passes by, on a stream of an Envoy that promises no access log.
   *
   * @param address `ip:port` of the worker that was asked last
   * @param codeDetails Envoy's `response_code_details`, null where it does not send them
   */
  answered(pickId: string, address: string, status: number, codeDetails: string | null): void;
}
