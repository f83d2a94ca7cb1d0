/** What routing takes from a request body, by one scan of it (sticky-sessions 2.1, decisions 8 and 35). Hot path. */
import { BODY_MEMBERS, MODEL, RID, STREAM } from './body-members.ts';
import type { Endpoint, RidRule } from './endpoint.ts';
import { type JsonScan, type MemberNames, scanObject } from './json-scanner.ts';
import { decodeString } from './json-string.ts';
import { CLOSE_BRACKET, COMMA, JsonWalker, OPEN_BRACKET, QUOTE } from './json-walker.ts';

export interface BodyFields {
  readonly kind: 'fields';
  /** `rid` as sent, or the first element of a list; null for none. Lineage and cap are `ridKeyOf`'s. */
  readonly rid: string | null;
  /** Model as sent; empty for none. */
  readonly model: string;
  /** Whether `stream` is true; null when that was not seen. */
  readonly streaming: boolean | null;
  /** Where its members stand, for the prompt; null when it has none to look at. */
  readonly members: JsonScan | null;
}

/** A body that SMG refuses before routing. */
export interface BodyError {
  readonly kind: 'error';
  readonly status: 400;
  readonly code: 'json_parse_error';
  /** Names the place and the cure. Holds nothing that the client sent. */
  readonly message: string;
}

const NOTHING: BodyFields = { kind: 'fields', rid: null, model: '', streaming: null, members: null };

/** A string, or that there is none (null), or why the member is refused. */
type Text = string | null | BodyError;

/**
 * Reads a body that is plain JSON by its headers (`bodyKindOf`). Of a prefix, the members that stand whole in it count, and
 * only what no continuation could mend is an error. No bytes at all are no error either, and have no fields.
 *
 * @param complete false when `bytes` is only the beginning of the body
 * @param wanted `BODY_MEMBERS`, or more after them (`bodyMembersAnd`)
 */
export function readBody(
  bytes: Buffer,
  complete: boolean,
  endpoint: Endpoint,
  wanted: MemberNames = BODY_MEMBERS,
): BodyFields | BodyError {
  if (!endpoint.isJson || bytes.length === 0) return NOTHING;
  const scan = scanObject(bytes, wanted);
  if (scan.status !== 'object' && (complete || scan.status !== 'truncated')) return brokenBody(scan);
  const rid = endpoint.rid === 'none' ? null : ridOf(bytes, scan, endpoint.rid);
  if (isError(rid)) return rid;
  const model = stringMember(bytes, scan, MODEL, 'model', 'a string or null');
  if (isError(model)) return model;
  return {
    kind: 'fields',
    rid: rid === '' ? null : rid,
    model: model ?? '',
    streaming: streamingOf(bytes, scan),
    members: scan,
  };
}

/** Of a beginning without `stream`, nothing is known. */
function streamingOf(bytes: Buffer, scan: JsonScan): boolean | null {
  const start = scan.starts[STREAM] ?? -1;
  const end = scan.ends[STREAM] ?? -1;
  if (end < 0) return scan.status === 'truncated' ? null : false;
  return isWord(bytes, start, end, 'true');
}

function ridOf(bytes: Buffer, scan: JsonScan, rule: RidRule): Text {
  if (rule === 'string') return stringMember(bytes, scan, RID, 'rid', 'a string or null');
  const types = 'a string, a list of strings, or null';
  const start = scan.starts[RID] ?? -1;
  const end = scan.ends[RID] ?? -1;
  const repeat = scan.repeats[RID] ?? -1;
  if (repeat >= 0 || end < 0 || bytes[start] !== OPEN_BRACKET) return stringMember(bytes, scan, RID, 'rid', types);
  return firstOfList(bytes, start, end) ?? wrongType('rid', start, types);
}

function stringMember(bytes: Buffer, scan: JsonScan, index: number, name: string, types: string): Text {
  const repeat = scan.repeats[index] ?? -1;
  if (repeat >= 0) return error(`duplicate member "${name}" at byte ${repeat} of the request body: send it once`);
  const start = scan.starts[index] ?? -1;
  const end = scan.ends[index] ?? -1;
  if (end < 0 || isWord(bytes, start, end, 'null')) return null;
  if (bytes[start] !== QUOTE) return wrongType(name, start, types);
  return decodeString(bytes, start, end) ?? wrongText(name, start);
}

/** First element of a list of strings, empty when the list is; null when it is anything else. */
function firstOfList(bytes: Buffer, start: number, end: number): string | null {
  const walker = new JsonWalker(bytes, start + 1);
  if (walker.next() === CLOSE_BRACKET) return walker.at === end - 1 ? '' : null;
  let first: string | null = null;
  for (let isFirst = true; ; isFirst = false) {
    if (walker.next() !== QUOTE) return null;
    const element = walker.at;
    if (!walker.skipString()) return null;
    if (isFirst) first = decodeString(bytes, element, walker.at);
    const byte = walker.next();
    if (byte !== COMMA) return byte === CLOSE_BRACKET && walker.at === end - 1 ? first : null;
    walker.at++;
  }
}

function isWord(bytes: Buffer, start: number, end: number, word: 'null' | 'true'): boolean {
  return end - start === 4 && bytes[start] === word.charCodeAt(0) && bytes.toString('latin1', start, end) === word;
}

function isError(value: Text): value is BodyError {
  return typeof value === 'object' && value !== null;
}

function brokenBody(scan: JsonScan): BodyError {
  switch (scan.status) {
    case 'not_object':
      return error(
        `the request body is no JSON object (byte ${scan.offset}): send an object, such as {"model": "..."}`,
      );
    case 'truncated':
      return error(`the request body ends at byte ${scan.offset} within its JSON object: send the whole object`);
    default:
      return error(`invalid JSON at byte ${scan.offset} of the request body: expected ${scan.expected}`);
  }
}

function wrongType(name: string, offset: number, types: string): BodyError {
  return error(`invalid type of member "${name}" at byte ${offset} of the request body: send ${types}`);
}

function wrongText(name: string, offset: number): BodyError {
  return error(
    `invalid string in member "${name}" at byte ${offset} of the request body: send valid UTF-8, with control characters escaped and surrogates in pairs`,
  );
}

function error(message: string): BodyError {
  return { kind: 'error', status: 400, code: 'json_parse_error', message };
}
