import type { HeldTotal } from './held-total.ts';
import type { ExtProcObserver } from './observer.ts';
import type { StreamPicker } from './stream-picker.ts';

export interface ExtProcOptions {
  readonly picker: StreamPicker;
  readonly observer: ExtProcObserver;
  /**
   * Header that carries the destination to gateways that read no metadata (decisions 21): a lower-case name, empty for
   * none, `auto` for the protocol's own name on full-duplex streams. On others never sent to Envoys that we configured.
   */
  readonly destinationHeader: string;
  /** Answers tell the gateways' conformance suite what it wants to see (endpoint-picker-protocol 9). */
  readonly testEndpointSelection: boolean;
  /** Longest wait for a decision in milliseconds; then the request passes without a pick. 250 by decisions 11. */
  readonly decisionTimeoutMs: number;
  /** Bytes of a body collected in full duplex before its beginning has to do. */
  readonly collectLimitBytes: number;
  /** Of all streams together. When it is full, the beginning of a body has to do as well. */
  readonly held: HeldTotal;
  /**
   * Ends a stream with its body answer, which Envoy would keep until the response has ended: one of its 1,024 requests to the service
   * by default. Each such end costs a reset (envoy 3.2), for which Node's HTTP/2 closes connections (envoy 3.3).
   */
  readonly endsHeldStreams: boolean;
}

/** The options, with what is worked out of them once. */
export interface ExtProcSettings extends ExtProcOptions {
  readonly controlHeaders: ReadonlySet<string>;
}
