import { indexedStatus200, literalField } from './hpack/literals.ts';
import { percentEncode } from './percent-encode.ts';

/**
 * Header blocks of our answers, as HPACK literals and entries of the static table: they touch no table of the connection, so that
 * nothing is kept for it and the same bytes serve all.
 */

const UNIMPLEMENTED = 12;
/** Of a message text, so that the block stays below what any peer takes. */
const MAX_DETAILS = 2048;
const NONE = Buffer.alloc(0);

const CONTENT_TYPE = literalField('content-type', 'application/grpc');
/** What a call begins with. */
export const ANSWER_HEADERS = Buffer.concat([indexedStatus200, CONTENT_TYPE]);
/** What a call ends with that went well. */
export const OK_TRAILERS = statusFields(0, '');

/** What a call ends with after its headers. */
export function trailers(status: number, details: string): Buffer {
  return status === 0 && details === '' ? OK_TRAILERS : statusFields(status, details);
}

/** The end of a call that has sent no headers ("Trailers-Only"). */
export function onlyTrailers(status: number, details: string): Buffer {
  return Buffer.concat([ANSWER_HEADERS, trailers(status, details)]);
}

/** To a compression that is not known: the answer has to name those that are. */
export function unknownCompression(details: string, known: string): Buffer {
  return Buffer.concat([onlyTrailers(UNIMPLEMENTED, details), literalField('grpc-accept-encoding', known)]);
}

/** An answer to what is no gRPC call: HTTP with a text, and the status of a call behind it for a gRPC client in between. */
export interface HttpAnswer {
  readonly headers: Buffer;
  readonly body: Buffer;
  readonly trailers: Buffer;
}

function httpAnswer(status: number, text: string, more: Buffer = NONE): HttpAnswer {
  return {
    headers: Buffer.concat([literalField(':status', String(status)), literalField('content-type', 'text/plain'), more]),
    body: Buffer.from(`${text}\n`),
    trailers: statusFields(UNIMPLEMENTED, text),
  };
}

export const NOT_POST = httpAnswer(405, 'this port speaks gRPC: POST only', literalField('allow', 'POST'));
export const NOT_GRPC = httpAnswer(415, 'this port speaks gRPC: the content-type has to be application/grpc');

function statusFields(status: number, details: string): Buffer {
  const code = literalField('grpc-status', String(status));
  if (details === '') return code;
  return Buffer.concat([code, literalField('grpc-message', percentEncode(details).slice(0, MAX_DETAILS))]);
}
