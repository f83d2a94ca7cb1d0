import {
  DECISION_KEY,
  DESTINATION_KEY,
  ERROR_CODE_KEY,
  PICK_ID_KEY,
  RANK_KEY,
  RANK_SUFFIX_KEY,
  STRICT_KEY,
} from '../names.ts';
import type { HeaderChange, HeaderChanges } from '../pick/header-changes.ts';
import type { PickMetadata } from '../pick/pick-metadata.ts';
import type { ImmediateAnswer } from '../pick/refusal.ts';
import { writeStructText } from '../wire/struct.ts';
import { WireWriter } from '../wire/wire-writer.ts';

/** The answers to a check as bytes. Each function writes its message from the last field to the first, see the writer. */

/** Fields of `envoy.service.auth.v3.CheckResponse`. */
const STATUS = 1;
const DENIED_RESPONSE = 2;
const OK_RESPONSE = 3;
const DYNAMIC_METADATA = 4;
/** Fields of `OkHttpResponse` and, the same number, of `DeniedHttpResponse`. */
const HEADERS = 2;
const HEADERS_TO_REMOVE = 5;
const RESPONSE_HEADERS_TO_ADD = 6;

/** `google.rpc.Code` of an answer that is not from a worker. */
const PERMISSION_DENIED = 7;
/** `HeaderValueOption.HeaderAppendAction`; Envoy reads it for headers of the response only (envoy 11.2). */
const OVERWRITE_IF_EXISTS_OR_ADD = 2;

const writer = new WireWriter();

/** The request goes on, to where Envoy finds best. */
export const PASS_RESPONSE: Buffer = encodeOk(null, [], null);

/**
 * The request goes on.
 *
 * @param changes of the request's headers
 * @param responseHeaders set on the answer to the client, in the place of the worker's own
 */
export function encodeOk(
  changes: HeaderChanges | null,
  responseHeaders: readonly HeaderChange[],
  metadata: PickMetadata | null,
): Buffer {
  if (metadata !== null) writePick(metadata);
  const mark = writer.length;
  for (let i = responseHeaders.length - 1; i >= 0; i--) {
    const header = responseHeaders[i];
    if (header !== undefined) writeHeader(RESPONSE_HEADERS_TO_ADD, header, OVERWRITE_IF_EXISTS_OR_ADD);
  }
  if (changes !== null) writeChanges(changes);
  writer.wrap(OK_RESPONSE, mark);
  writer.wrap(STATUS, writer.length);
  return writer.take();
}

/** The client gets an answer of the service. Its details cannot be set, and stand in the metadata instead. */
export function encodeDenied(answer: ImmediateAnswer): Buffer {
  const end = writer.length;
  writeStructText(writer, ERROR_CODE_KEY, answer.details);
  writer.wrap(DYNAMIC_METADATA, end);
  const mark = writer.length;
  writer.text(3, answer.body);
  for (let i = answer.headers.length - 1; i >= 0; i--) {
    const header = answer.headers[i];
    if (header !== undefined) writeHeader(HEADERS, header, 0);
  }
  const status = writer.length;
  writer.varint(1, answer.status);
  writer.wrap(1, status);
  writer.wrap(DENIED_RESPONSE, mark);
  const code = writer.length;
  writer.varint(1, PERMISSION_DENIED);
  writer.wrap(STATUS, code);
  return writer.take();
}

/** Envoy sets first and removes then: what is set must not be named as removed. */
function writeChanges({ set, remove }: HeaderChanges): void {
  for (let i = remove.length - 1; i >= 0; i--) {
    const name = remove[i];
    if (name !== undefined && !isSet(set, name)) writer.text(HEADERS_TO_REMOVE, name);
  }
  for (let i = set.length - 1; i >= 0; i--) {
    const header = set[i];
    if (header !== undefined) writeHeader(HEADERS, header, 0);
  }
}

function isSet(set: readonly HeaderChange[], name: string): boolean {
  for (let i = 0; i < set.length; i++) if (set[i]?.name === name) return true;
  return false;
}

/** Envoy reads `value` only, and overwrites when `append` is unset (envoy 11.2). */
function writeHeader(field: number, { name, value }: HeaderChange, appendAction: number): void {
  const mark = writer.length;
  if (appendAction !== 0) writer.varint(3, appendAction);
  const header = writer.length;
  writer.text(2, value);
  writer.text(1, name);
  writer.wrap(1, header);
  writer.wrap(field, mark);
}

/** All in one struct, since the filter gives its metadata one namespace. */
function writePick({ destination, strict, pickId, rank, decision }: PickMetadata): void {
  const mark = writer.length;
  if (decision !== null) writeStructText(writer, DECISION_KEY, decision);
  if (rank !== null) {
    writeStructText(writer, RANK_SUFFIX_KEY, `@${rank}`);
    writeStructText(writer, RANK_KEY, String(rank));
  }
  writeStructText(writer, PICK_ID_KEY, pickId);
  if (strict) writeStructText(writer, STRICT_KEY, '1');
  writeStructText(writer, DESTINATION_KEY, destination);
  writer.wrap(DYNAMIC_METADATA, mark);
}
