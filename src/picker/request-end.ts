/** What Envoy's access log tells of one picked request, at its end or while it lives. */
export interface RequestEnd {
  readonly pickId: string;
  /** Id of the worker that Envoy used last, empty when it used none (the `worker` tag of the entry). */
  readonly workerId: string;
  /** Address Envoy chose last, empty when unknown. */
  readonly servedAddress: string;
  /** HTTP status the client got, 0 when none was sent. */
  readonly status: number;
  /** `response_code_details`; `via_upstream` marks an answer of a worker. */
  readonly codeDetails: string;
  /** Attempts Envoy made; 0 when it reached no worker. */
  readonly attempts: number;
  /** Whole duration in milliseconds, 0 when unknown. */
  readonly durationMs: number;
  /** Milliseconds from the start of the request to the first byte of the worker's answer, -1 when there was none. */
  readonly firstByteMs: number;
  /** True when the last attempt failed in a way that calls for another, and there was none left (Envoy's flag URX). */
  readonly retriesUsedUp: boolean;
  /** True when the client left before its answer was complete. */
  readonly clientGone: boolean;
}
