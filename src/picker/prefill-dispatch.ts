/** The port to what sends the prefill part of a request, under prefill/decode disaggregation (policies 4, decisions 27). */
import type { EndpointKind } from '../request/endpoint.ts';
import type { JsonScan } from '../request/json-scanner.ts';
import type { RequestHead } from '../request/request-head.ts';
import type { Outcome } from '../workers/breaker.ts';
import type { Worker } from '../workers/worker.ts';
import type { RefusalAnswer } from './answer.ts';

/** A request that is placed on both legs. */
export interface PrefillOrder {
  readonly head: RequestHead;
  readonly endpoint: EndpointKind;
  /** The members of its body; null where the body could not be read whole. */
  readonly body: JsonScan | null;
  /** Longest body of the decode leg that can be handed on, in bytes; 0 where the client's own has to go on. */
  readonly mostBodyBytes: number;
  /** Canonical model to write into both bodies; null where the client's word stands. */
  readonly model: string | null;
  /** Canonical model id, `unknown` when the request names none. */
  readonly modelLabel: string;
  /** Sent on as `x-request-id`. */
  readonly requestId: string;
  readonly prefill: Worker;
  readonly decode: Worker;
}

/** What the decode leg needs of the prefill leg. */
export interface Handoff {
  readonly kind: 'handoff';
  /** Body of the decode leg; null when the client's own goes on. */
  readonly body: Buffer | null;
  /**
   * Who has to be told of the prefill worker, because they send it the request: a sidecar beside the decode worker, or Envoy, by
   * mirroring. Null when that is done, or not needed.
   */
  readonly leftTo: 'sidecar' | 'envoy' | null;
}

/**
 * The prefill leg failed: what the client is told, unless the status is one of those that are tried again (decisions 31) and
 * another try is left.
 */
export interface PrefillFailure {
  readonly kind: 'failed';
  readonly status: number;
  readonly code: RefusalAnswer['code'];
  readonly message: string;
}

/** A prefill under way. */
export interface PrefillRun {
  /** Longest wait for `handoff`, in milliseconds. */
  readonly timeoutMs: number;
  /** Never rejects. Comes as soon as the decode leg may begin. */
  readonly handoff: Promise<Handoff | PrefillFailure>;
  /**
   * The part of the prefill worker is over: its in-flight count can go. What its circuit breaker is to know of it, null for
   * nothing (it answered 429, or the request was cancelled). Never rejects.
   */
  readonly done: Promise<Outcome | null>;
  /** The client left. */
  cancel(): void;
}

export interface PrefillDispatch {
  /** At once where nothing has to be waited for, else a run. */
  start(order: PrefillOrder): Handoff | PrefillFailure | PrefillRun;
}
