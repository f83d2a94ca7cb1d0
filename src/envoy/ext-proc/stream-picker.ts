import type { SeenResponse } from '../../picker/served-feedback.ts';
import type { RequestPicker } from '../pick/request-picker.ts';

/** What a stream asks of the service behind it. */
export interface StreamPicker extends RequestPicker {
  /** The response to a pick begins, on a stream of an Envoy that promises no access log. */
  responseBegan(response: SeenResponse): void;
  /** A stream that lasted as long as the response to its pick is over (envoy 3.2). Not the only sign of the end. */
  streamEnded(pickId: string): void;
}
