import type { BodyPhase } from './message.ts';

/**
 * One piece of a body that is given back in full duplex, as the bytes of a `ProcessingResponse`. Written by hand, since a
 * body passes here whole: each of its bytes is copied once. The generated code is its oracle.
 */
export function chunkBytes(phase: BodyPhase, body: Buffer, endOfStream: boolean): Buffer {
  const bodySize = body.length === 0 ? 0 : field(body.length);
  const streamed = bodySize + (endOfStream ? 2 : 0);
  const mutation = field(streamed);
  const common = field(mutation);
  const response = field(common);

  const bytes = Buffer.allocUnsafe(field(response));
  let at = 0;
  at = open(bytes, at, phase === 'request_body' ? 0x1a : 0x22, response); // ProcessingResponse 3 or 4
  at = open(bytes, at, 0x0a, common); // BodyResponse.response
  at = open(bytes, at, 0x1a, mutation); // CommonResponse.body_mutation
  at = open(bytes, at, 0x1a, streamed); // BodyMutation.streamed_response
  if (body.length > 0) {
    at = open(bytes, at, 0x0a, body.length); // StreamedBodyResponse.body
    at += body.copy(bytes, at);
  }
  if (endOfStream) {
    bytes[at] = 0x10; // StreamedBodyResponse.end_of_stream
    bytes[at + 1] = 1;
  }
  return bytes;
}

/** Size of a length-delimited field with a tag of one byte. */
function field(length: number): number {
  let size = 2 + length;
  for (let rest = length; rest >= 0x80; rest >>>= 7) size += 1;
  return size;
}

/** Writes tag and length; the answer is where the content starts. */
function open(bytes: Buffer, start: number, tag: number, length: number): number {
  let at = start;
  bytes[at++] = tag;
  let rest = length;
  for (; rest >= 0x80; rest >>>= 7) bytes[at++] = (rest & 0x7f) | 0x80;
  bytes[at++] = rest;
  return at;
}
