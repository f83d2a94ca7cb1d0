import type { BodyReason } from '../routing/body-reason.ts';
import type { Eligibility } from '../routing/eligibility.ts';
import type { RefusalCode } from '../telemetry/own-metrics.ts';

/** Whether a request must be read beyond its headers, and why or why not. */
export interface BodyPlan {
  readonly readBody: boolean;
  readonly reason: BodyReason;
}

/** The part of a request body that Envoy handed over. */
export interface BodyBytes {
  readonly bytes: Buffer;
  /** False when it is only a prefix (BUFFERED_PARTIAL over Envoy's limit). */
  readonly complete: boolean;
}

/** Facts about the stream a request came on. */
export interface StreamFacts {
  /** Interval of the access log's periodic entries that its Envoy promises, in milliseconds; 0 when it promises none. */
  readonly periodicLogMs: number;
  /** True on streams of the Endpoint Picker Protocol (full duplex), which has statuses of its own for refusals. */
  readonly endpointPicker: boolean;
  /** Whether an answer can replace the request's body. */
  readonly editsBody: boolean;
  /** Id of the pick to come, of `reservePickId`, where Envoy has been told it already; else null. */
  readonly pickId: string | null;
  /** The workers that the data plane allows for this request (endpoint-picker-protocol 2); null: all. */
  readonly subset: Eligibility | null;
}

/** The request is placed: what Envoy must be told. */
export interface PickAnswer {
  readonly kind: 'pick';
  readonly pickId: string;
  /** `ip:port[,ip:port…]`, best first. */
  readonly destination: string;
  /** No other worker may serve. */
  readonly strict: boolean;
  /** Attempts after the first that Envoy may make; null where its route decides. */
  readonly maxRetries: number | null;
  /** Data-parallel rank that the body tells the engine; null when it tells none. */
  readonly rank: number | null;
  /** Value to set as `x-request-id` towards the worker, null when the header may stay as it is. */
  readonly requestId: string | null;
  /** Value of `x-smg-decision`, null unless the operator asked for it. */
  readonly decisionHeader: string | null;
  /** The body that the worker gets instead of the client's, null when that one goes on. Only where all of it was read. */
  readonly body: Buffer | null;
  /** Value of `x-prefiller-host-port`: whom a sidecar beside the worker asks for the prefill; null for nobody. */
  readonly prefillHeader: string | null;
  /** `ip:port[,ip:port]` to which Envoy mirrors the request; null for nobody. */
  readonly prefillMirror: string | null;
}

/** The request is refused with an immediate response in the error envelope (interface 10). */
export interface RefusalAnswer {
  readonly kind: 'refusal';
  readonly status: number;
  readonly code: RefusalCode;
  readonly message: string;
  /** Whole seconds for `retry-after`, null for none. */
  readonly retryAfterSecs: number | null;
  readonly requestId: string;
}

/** The service failed to decide: Envoy goes on without a pick, its fallback places the request. */
export interface PassAnswer {
  readonly kind: 'pass';
}

/** What settles a request. */
export type FinalAnswer = PickAnswer | RefusalAnswer | PassAnswer;

/** The request is placed, but another worker has to do its part first, which takes as long as that takes (decisions 27). */
export interface DeferredAnswer {
  readonly kind: 'deferred';
  /** Longest wait, in milliseconds; `answer` is there by then. */
  readonly timeoutMs: number;
  /** Never rejects. */
  readonly answer: Promise<FinalAnswer>;
  /** Nobody waits any more: the client left, or Envoy went on. Ends what was started, and leaves no pick in flight. */
  cancel(): void;
}

export type Answer = FinalAnswer | DeferredAnswer;
