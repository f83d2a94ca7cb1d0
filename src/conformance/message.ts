import type { ProcessingRequest, ProcessingResponse } from '../gen/envoy/service/ext_proc/v3/external_processor.ts';

/** JSON object, as protobuf's Struct decodes. */
export type Struct = Readonly<Record<string, unknown>>;

export type Kind = NonNullable<ProcessingRequest['request']>['$case'];
export type AnswerKind = NonNullable<ProcessingResponse['response']>['$case'];

/** A message that was sent, without its bytes. */
export interface Sent {
  readonly from: 'us';
  readonly kind: Kind;
  readonly bytes: number;
  /** Of a monotonic clock, in ms. */
  readonly at: number;
  readonly endOfStream: boolean;
}

/** A message that came; kind null when it holds no answer. */
export interface Received {
  readonly from: 'picker';
  readonly kind: AnswerKind | null;
  readonly message: ProcessingResponse;
  /** Of a monotonic clock, in ms. */
  readonly at: number;
}

export type Entry = Sent | Received;

/** How a stream ended, as gRPC tells it. */
export interface StreamEnd {
  readonly code: number;
  readonly details: string;
}

/** Member of an object, undefined when there is none. */
export function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Struct)[name] : undefined;
}
