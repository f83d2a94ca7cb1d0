import type { Struct } from './message.ts';

/** One header line; repeated names are separate lines. */
export type Header = readonly [name: string, value: string];

/** What every body that ends with trailers ends with. */
export const TRAILERS: readonly Header[] = [['x-conformance-trailer', 'end']];

export const BODY_MODES = ['none', 'streamed', 'buffered', 'buffered_partial', 'full_duplex'] as const;
/** How a data plane shows a body to the picker (envoy 4.1); the index is the wire value. */
export type BodyMode = (typeof BODY_MODES)[number];

/** The processing mode of one stream. */
export interface Mode {
  readonly request: BodyMode;
  readonly response: BodyMode;
  /** Trailers are shown, in both directions; full duplex always shows them. */
  readonly trailers: boolean;
}

/** The only mode that the protocol itself knows (endpoint-picker-protocol 1). */
export const FULL_DUPLEX: Mode = { request: 'full_duplex', response: 'full_duplex', trailers: true };

export function modeOf(request: BodyMode, trailers = false): Mode {
  return request === 'full_duplex' ? FULL_DUPLEX : { request, response: 'none', trailers };
}

/**
 * How a body ends: with the flag on its last piece, with an empty flagged piece, with trailers, with the flag sent twice
 * (envoyproxy/envoy#46237), or never, as the data of an upgraded connection.
 */
export type BodyEnd = 'flag' | 'empty_flag' | 'trailers' | 'twice' | 'never';

export interface Body {
  readonly pieces: readonly Buffer[];
  readonly end: BodyEnd;
}

/** The response that a worker would give. */
export interface ResponsePlan {
  readonly headers: readonly Header[];
  /** Null when the response ends with its headers. */
  readonly body: Body | null;
  readonly metadata: Struct | null;
  readonly attributes: Struct | null;
}

/** One HTTP request as a data plane shows it to a picker. */
export interface Plan {
  /** For findings: what this request is. */
  readonly title: string;
  readonly mode: Mode;
  readonly headers: readonly Header[];
  /** Null when the request ends with its headers. */
  readonly body: Body | null;
  /** `metadata_context.filter_metadata`, by namespace. */
  readonly metadata: Struct | null;
  /** Messages that carry the metadata. */
  readonly metadataOn: 'all' | 'last body';
  /** Longest pause before the last body message that carries metadata, in milliseconds; an answer to the headers ends it. */
  readonly pauseMs: number;
  /** Null when the response phase is not shown. */
  readonly response: ResponsePlan | null;
  /** Whether the exchange goes on without waiting for an answer to trailers. */
  readonly ignoresTrailers: boolean;
  /** How the stream ends: with END_STREAM (Envoy's graceful close) or RST_STREAM (its default). */
  readonly close: 'graceful' | 'reset';
}
