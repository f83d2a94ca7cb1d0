import type { FailedAttempt, RequestEnd } from '../../picker/request-end.ts';

/** Who wants to know how picked requests fare at Envoy. `now` is in milliseconds and never runs backwards. */
export interface RequestEndSink {
  /** A picked request has ended. The pick id may be unknown, or told of twice. */
  ended(end: RequestEnd, now: number): void;
  /** An attempt at a worker failed, be it of a picked request or of another. */
  attemptFailed(attempt: FailedAttempt): void;
  /**
   * A picked request still lives; the worker and address are those of its latest attempt, empty when not yet known, and
   * the status that of its answer, 0 before it has begun.
   */
  alive(pickId: string, workerId: string, servedAddress: string, status: number, now: number): void;
  /** An Envoy thread opened its log stream. */
  logStreamOpened(): void;
  /** A log stream is gone, for whatever reason. */
  logStreamClosed(): void;
}

/** Entries that tell nothing about a pick: the request had none, or the entry is of another kind. */
export type SkippedEntry = 'no_pick' | 'other';

/** Who counts what comes in. */
export interface AccessLogObserver {
  skipped(entry: SkippedEntry): void;
  /** A message that is no protobuf of the expected kind; its stream was ended. */
  malformed(): void;
  /** Milliseconds from the end of a request at Envoy to its entry here, by both wall clocks. */
  lagged(ms: number): void;
}
