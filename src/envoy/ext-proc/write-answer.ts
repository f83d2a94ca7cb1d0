import {
  DECISION_KEY,
  DESTINATION_KEY,
  DESTINATION_NAMESPACE,
  PICK_ID_KEY,
  PICKER_NAMESPACE,
  PREFILL_KEY,
  RANK_KEY,
  RANK_SUFFIX_KEY,
  STRICT_KEY,
} from '../names.ts';
import type { HeaderChange, HeaderChanges } from '../pick/header-changes.ts';
import type { PickMetadata } from '../pick/pick-metadata.ts';
import type { ImmediateAnswer } from '../pick/refusal.ts';
import { wrapStruct, writeStructText } from '../wire/struct.ts';
import { WireWriter } from '../wire/wire-writer.ts';
import { PHASES, type Phase, type PhaseAnswer } from './message.ts';

/**
 * Answers as bytes of a `ProcessingResponse`; pieces of bodies: `chunk-bytes.ts`. Each function writes its message from the last
 * field to the first, see the writer. The generated code is the oracle of the tests.
 */

/** Fields of a `ProcessingResponse`: that of each kind, and what may stand beside it. */
const FIELD_OF: Readonly<Record<Phase, number>> = {
  request_headers: 1,
  response_headers: 2,
  request_body: 3,
  response_body: 4,
  request_trailers: 5,
  response_trailers: 6,
};
const IMMEDIATE_RESPONSE = 7;
const DYNAMIC_METADATA = 8;
const MODE_OVERRIDE = 9;
const OVERRIDE_MESSAGE_TIMEOUT = 10;

/** Fields of a `CommonResponse`, and of the mutations in it. */
const HEADER_MUTATION = 2;
const BODY_MUTATION = 3;
const CLEAR_ROUTE_CACHE = 5;
const SET_HEADERS = 1;
const REMOVE_HEADERS = 2;
/** Envoy reads `raw_value` only, and overwrites when `append` is unset (envoy 5.1). */
const KEY = 1;
const RAW_VALUE = 3;

/** `ProcessingMode.request_body_mode`, and its `BUFFERED_PARTIAL`. */
const REQUEST_BODY_MODE = 3;
const BUFFERED_PARTIAL = 3;

const writer = new WireWriter();

/** The whole answer `CONTINUE, change nothing` to a message of each kind. */
export const CONTINUE: Readonly<Record<Phase, Buffer>> = Object.fromEntries(
  PHASES.map((phase) => [
    phase,
    writeAnswer({
      phase,
      changes: null,
      metadata: null,
      clearRouteCache: false,
      askForBody: false,
      announced: null,
      body: null,
    }),
  ]),
) as Record<Phase, Buffer>;

export function writeAnswer(answer: PhaseAnswer): Buffer {
  if (answer.askForBody) writeAskForBody();
  if (answer.metadata !== null) writeMetadata(answer.metadata);
  else if (answer.announced !== null) writeAnnounced(answer.announced);
  const mark = writer.length;
  if (answer.phase === 'request_trailers' || answer.phase === 'response_trailers') {
    if (answer.changes !== null) writeChanges(1, answer.changes);
  } else writeCommon(answer);
  writer.wrap(FIELD_OF[answer.phase], mark);
  return writer.take();
}

/** A status that is left out means 200 (envoy 10.2). */
export function writeImmediate(answer: ImmediateAnswer): Buffer {
  const mark = writer.length;
  writer.text(5, answer.details);
  writer.text(3, answer.body);
  const headers = writer.length;
  writeSet(answer.headers);
  writer.wrap(2, headers);
  const status = writer.length;
  writer.varint(1, answer.status);
  writer.wrap(1, status);
  writer.wrap(IMMEDIATE_RESPONSE, mark);
  return writer.take();
}

/** Envoy waits that much longer for the answer that it is owed; it hears of it once, and up to its `max_message_timeout`. */
export function writeMoreTime(ms: number): Buffer {
  const mark = writer.length;
  const nanos = (ms % 1000) * 1e6;
  if (nanos > 0) writer.varint(2, nanos);
  writer.varint(1, Math.floor(ms / 1000));
  writer.wrap(OVERRIDE_MESSAGE_TIMEOUT, mark);
  return writer.take();
}

/**
 * Names the one mode that changes. Header and trailer modes that are left out stay what the gateway wants, such as the
 * response headers that it sends for the stamp, and our own `allowed_override_modes` match all the same (envoy 4.2).
 */
function writeAskForBody(): void {
  const mark = writer.length;
  writer.varint(REQUEST_BODY_MODE, BUFFERED_PARTIAL);
  writer.wrap(MODE_OVERRIDE, mark);
}

/** A headers or body answer. */
function writeCommon({ changes, clearRouteCache, body }: PhaseAnswer): void {
  if (changes === null && !clearRouteCache && body === null) return;
  const mark = writer.length;
  if (clearRouteCache) writer.varint(CLEAR_ROUTE_CACHE, 1);
  if (body !== null) {
    const mutation = writer.length;
    writer.bytes(1, body);
    writer.wrap(BODY_MUTATION, mutation);
  }
  if (changes !== null) writeChanges(HEADER_MUTATION, changes);
  writer.wrap(1, mark);
}

function writeChanges(field: number, { set, remove }: HeaderChanges): void {
  const mark = writer.length;
  for (let i = remove.length - 1; i >= 0; i--) {
    const name = remove[i];
    if (name !== undefined) writer.text(REMOVE_HEADERS, name);
  }
  writeSet(set);
  writer.wrap(field, mark);
}

function writeSet(set: readonly HeaderChange[]): void {
  for (let i = set.length - 1; i >= 0; i--) {
    const header = set[i];
    if (header === undefined) continue;
    const mark = writer.length;
    writer.text(RAW_VALUE, header.value);
    writer.text(KEY, header.name);
    writer.wrap(1, mark);
    writer.wrap(SET_HEADERS, mark);
  }
}

function writeAnnounced(pickId: string): void {
  const mark = writer.length;
  writeStructText(writer, PICK_ID_KEY, pickId);
  wrapStruct(writer, PICKER_NAMESPACE, mark);
  writer.wrap(DYNAMIC_METADATA, mark);
}

function writeMetadata({ destination, strict, pickId, rank, decision, prefill }: PickMetadata): void {
  const mark = writer.length;
  if (rank !== null) {
    writeStructText(writer, RANK_SUFFIX_KEY, `@${rank}`);
    writeStructText(writer, RANK_KEY, String(rank));
  }
  if (decision !== null) writeStructText(writer, DECISION_KEY, decision);
  writeStructText(writer, PICK_ID_KEY, pickId);
  wrapStruct(writer, PICKER_NAMESPACE, mark);
  const lb = writer.length;
  if (prefill !== null) writeStructText(writer, PREFILL_KEY, prefill);
  if (strict) writeStructText(writer, STRICT_KEY, '1');
  writeStructText(writer, DESTINATION_KEY, destination);
  wrapStruct(writer, DESTINATION_NAMESPACE, lb);
  writer.wrap(DYNAMIC_METADATA, mark);
}
