/** Response code details of a worker's answer (envoy 10.1). */
export const VIA_UPSTREAM = 'via_upstream';

/** What Envoy's access log tells of one picked request, at its end or while it lives. */
export interface RequestEnd {
  readonly pickId: string;
  /** Id of the worker that Envoy used last, of ranks that of their engine; empty when it used none (the `worker` tag). */
  readonly workerId: string;
  /** Data-parallel rank that the body named, null for none. */
  readonly rank: number | null;
  /** Address Envoy chose last, empty when unknown. */
  readonly servedAddress: string;
  /** HTTP status the client got, 0 when none was sent. */
  readonly status: number;
  /** `response_code_details`; `VIA_UPSTREAM` marks an answer of a worker. */
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
  /** True when this Envoy also tells of each attempt that failed. */
  readonly attemptsLogged: boolean;
}

/** What the log of Envoy's router tells of one attempt at a worker. It names no pick (envoy 9.2). */
export interface FailedAttempt {
  /** Id of the worker, of ranks that of their engine; empty when unknown. */
  readonly workerId: string;
  /** Data-parallel rank that answered; null when it is none, or nobody answered. */
  readonly rank: number | null;
  /** Address of the worker, empty when unknown. */
  readonly address: string;
  /** HTTP status that the worker answered, 0 when it did not. */
  readonly status: number;
  /** No connection, a broken one, a reset, an answer that is no HTTP, or no answer within the time of an attempt. */
  readonly broken: boolean;
}
