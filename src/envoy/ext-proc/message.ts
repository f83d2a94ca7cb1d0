import type { HeadView } from '../pick/head-view.ts';
import type { HeaderChanges } from '../pick/header-changes.ts';
import type { PickMetadata } from '../pick/pick-metadata.ts';
import type { Fields } from '../wire/fields.ts';

/** Kinds of messages, in both directions: an answer has the kind of its message. */
export const PHASES = [
  'request_headers',
  'request_body',
  'request_trailers',
  'response_headers',
  'response_body',
  'response_trailers',
] as const;
export type Phase = (typeof PHASES)[number];
export type BodyPhase = 'request_body' | 'response_body';

/** `ProcessingMode.BodySendMode` (envoy 4.1); the index is the wire value. */
export const BODY_MODES = ['none', 'streamed', 'buffered', 'buffered_partial', 'full_duplex', 'grpc'] as const;
export type BodyMode = (typeof BODY_MODES)[number];

/** What Envoy tells of its mode in the first message of a stream. */
export interface Protocol {
  readonly requestBodyMode: BodyMode;
  readonly responseBodyMode: BodyMode;
  /** `send_body_without_waiting_for_header_response`: switches mode overrides off. */
  readonly sendsBodyUnasked: boolean;
}

/** One message of Envoy. */
export interface Incoming {
  readonly phase: Phase;
  /** Headers of a header message; null in the other kinds. */
  readonly head: HeadView | null;
  readonly endOfStream: boolean;
  /** Bytes of a body message; empty in the other kinds. */
  readonly body: Buffer;
  /** Null when the message carries none, as all but the first do. */
  readonly protocol: Protocol | null;
  /** Envoy ignores answers. */
  readonly observability: boolean;
  /** Attributes of the ext_proc filter, null when none were sent. */
  readonly attributes: Fields | null;
  /** `metadata_context.filter_metadata`: namespace to fields. */
  readonly metadata: Readonly<Record<string, Fields | undefined>> | null;
}

/** The answer to one message. */
export interface PhaseAnswer {
  readonly phase: Phase;
  readonly changes: HeaderChanges | null;
  readonly metadata: PickMetadata | null;
  readonly clearRouteCache: boolean;
  /** Override the mode so that the request body follows (envoy 2.2). */
  readonly askForBody: boolean;
  /** Id of the pick that follows with the body; null where none is told before. */
  readonly announced: string | null;
  /** Replaces the body of a buffered body message (envoy 5.2), null when it goes on as it is. */
  readonly body: Buffer | null;
}
