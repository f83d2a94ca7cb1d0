import { isUtf8 } from 'node:buffer';
import { setMembers } from '../../../src/request/body-edit.ts';
import { type BodyError, type BodyFields, readBody } from '../../../src/request/body-fields.ts';
import { ScannedKeys } from '../../../src/request/body-keys.ts';
import {
  bodyMembersAnd,
  DATA_PARALLEL_RANK,
  INPUT_IDS,
  MODEL,
  RID,
  STREAM,
} from '../../../src/request/body-members.ts';
import { BodyPrompt } from '../../../src/request/body-prompt.ts';
import { withoutMembers } from '../../../src/request/body-without.ts';
import { type Endpoint, endpointOf } from '../../../src/request/endpoint.ts';
import { JsonPointer } from '../../../src/request/json-pointer.ts';
import { type JsonScan, scanObject } from '../../../src/request/json-scanner.ts';
import { GOES_ON } from '../../../src/request/prompt-text.ts';
import { plainKeyOf } from '../../../src/request/routing-key.ts';
import { ByteSink } from '../lib/byte-sink.ts';
import { alike, fail, same } from '../lib/expect.ts';
import type { Random } from '../lib/random.ts';
import type { Target } from '../lib/target.ts';
import { isObject, type Json, type JsonObject, parseJson } from '../oracles/json.ts';
import { inputIdsOracle, routingText } from '../oracles/prompt.ts';
import { JSON_TOKENS, JsonGrammar } from './json-grammar.ts';

const PATHS = [
  '/v1/chat/completions',
  '/v1/messages',
  '/v1/messages/count_tokens',
  '/v1/completions',
  '/generate',
  '/v1/embeddings',
  '/v1/classify',
  '/rerank',
  '/v1/responses',
  '/v1/interactions',
  '/v1/audio/transcriptions',
];
const POINTERS = ['/metadata/user_id', '/messages/0/content', '/rid', '/messages/1/content/0/text', '/metadata/0'].map(
  (text) => JsonPointer.parse(text)!,
);
const WANTED = bodyMembersAnd([...GOES_ON, ...POINTERS.map(({ root }) => root)]);
/** The first bytes of an input: the path, and where the body is cut. */
const HEAD_BYTES = 3;
const EDITS = [
  { member: MODEL, json: '"other"' },
  { member: DATA_PARALLEL_RANK, json: '7' },
];

/** The scanners of request bodies against two parsers of whole JSON, and against themselves on a beginning of the body. */
export function jsonTarget(): Target {
  const sink = new ByteSink();
  const counts = { valid: 0, invalid: 0, refused: 0, repeated: 0 };
  return {
    name: 'json',
    sources: [
      '/src/request/json-',
      '/src/request/body-',
      '/src/request/prompt-text',
      '/src/request/input-ids',
      '/src/request/whole-members',
    ],
    tokens: JSON_TOKENS,
    slowMs: 40,
    counts: () => counts,
    generate(random: Random): Buffer {
      sink.clear().byte(random.below(PATHS.length)).uint(random.below(0x1_0000), 2);
      new JsonGrammar(sink, random).body();
      return sink.done();
    },
    check(input: Buffer): void {
      const endpoint = endpointOf(PATHS[(input[0] ?? 0) % PATHS.length]!);
      const body = input.subarray(HEAD_BYTES);
      const scan = scanObject(body, WANTED);
      checkScan(body, scan);
      const read = readBody(body, true, endpoint, WANTED);
      if (read.kind === 'error') counts.refused++;
      checkWellFormed(endpoint, read);

      const cut = input.length < HEAD_BYTES ? 0 : input.readUInt16BE(1) % (body.length + 1);
      checkBeginning(body.subarray(0, cut), scan, read, endpoint);

      const parsed = parsedOf(body);
      if (parsed === undefined) {
        counts.invalid++;
        return;
      }
      counts.valid++;
      same('status of valid JSON', scan.status, isObject(parsed) ? 'object' : 'not_object');
      checkRead(body, endpoint, read, parsed);
      if (!isObject(parsed)) return;
      if (parsed.repeated.size > 0) counts.repeated++;
      checkMembers(body, scan, parsed);
      checkEdits(scan, parsed);
      if (read.kind === 'fields' && read.members !== null) checkPrompt(endpoint, read, read.members, parsed);
    },
  };
}

/** Without the mark in front, which `JSON.parse` does not take. */
function parsedOf(body: Buffer): Json | undefined {
  if (!isUtf8(body)) return undefined;
  const marked = body.length >= 3 && body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf;
  const text = body.toString('utf8', marked ? 3 : 0);
  const parsed = parseJson(text);
  let accepted = true;
  try {
    JSON.parse(text);
  } catch {
    accepted = false;
  }
  same('the oracles agree', parsed !== undefined, accepted);
  return parsed;
}

function checkScan(body: Buffer, { offset, starts, ends, repeats }: JsonScan): void {
  if (offset < 0 || offset > body.length) fail('offset within the body', offset, body.length);
  for (let i = 0; i < starts.length; i++) {
    const start = starts[i]!;
    const end = ends[i]!;
    if (start > body.length || (start < 0 && end >= 0)) fail('start within the body', start, end);
    if (end !== -1 && (end <= start || end > body.length)) fail('end behind the start', start, end);
    if (repeats[i] !== -1 && repeats[i]! <= start) fail('a repetition behind the first', start, repeats[i]);
  }
}

function checkWellFormed(endpoint: Endpoint, read: BodyFields | BodyError): void {
  if (read.kind === 'error') return;
  if (read.rid !== null && (read.rid === '' || !read.rid.isWellFormed())) fail('rid is text', read.rid);
  if (!read.model.isWellFormed()) fail('model is text', read.model);
  if (read.members === null) return;
  const prompt = new BodyPrompt(null, endpoint.kind, read.members);
  if (prompt.text?.isWellFormed() === false) fail('prompt is text', prompt.text);
  if (prompt.tokens?.length === 0) fail('tokens are never empty');
  const keys = new ScannedKeys(endpoint.kind, read.members, read.rid);
  if (keys.opening !== null && keys.opening.length !== 16) fail('a digest', keys.opening);
  for (const pointer of POINTERS) {
    const key = keys.at(pointer);
    if (key !== null && plainKeyOf(key) === null) fail('a key by pointer is a plain key', key);
  }
  same('namespace', prompt.namespace?.length ?? 16, 16);
}

/** Whatever is known of a beginning holds of the whole. */
function checkBeginning(piece: Buffer, whole: JsonScan, wholeRead: BodyFields | BodyError, endpoint: Endpoint): void {
  const scan = scanObject(piece, WANTED);
  if (scan.status === 'malformed' || scan.status === 'not_object') {
    same('a fault of the beginning', scan.status, whole.status);
    same('its place', scan.offset, whole.offset);
  }
  for (let i = 0; i < scan.starts.length; i++) {
    if (scan.ends[i] === -1) continue;
    same('a member of the beginning starts', scan.starts[i], whole.starts[i]);
    same('a member of the beginning ends', scan.ends[i], whole.ends[i]);
    // A name whose value is wrong is not told.
    if (scan.repeats[i] !== -1 && whole.status !== 'malformed')
      same('a repetition in the beginning', scan.repeats[i], whole.repeats[i]);
  }
  const read = readBody(piece, false, endpoint, WANTED);
  checkWellFormed(endpoint, read);
  if (wholeRead.kind === 'error') return;
  if (read.kind === 'error') fail('a beginning is refused, the whole is not', read.message);
  if (read.rid !== null) same('rid of the beginning', read.rid, wholeRead.rid);
  if (read.model !== '') same('model of the beginning', read.model, wholeRead.model);
  if (read.streaming !== null) same('stream of the beginning', read.streaming, wholeRead.streaming);
}

/** Decisions 35: what is refused, and what is read. */
function checkRead(body: Buffer, endpoint: Endpoint, read: BodyFields | BodyError, parsed: Json): void {
  if (!endpoint.isJson || body.length === 0) {
    same('other endpoints read nothing', read.kind, 'fields');
    return;
  }
  if (!isObject(parsed)) {
    same('no object', read.kind, 'error');
    return;
  }
  const rid = parsed.members.get('rid');
  const model = parsed.members.get('model');
  const hasRid = endpoint.rid !== 'none';
  const wrong =
    (hasRid && (parsed.repeated.has('rid') || !isRid(rid, endpoint.rid === 'string_or_list'))) ||
    parsed.repeated.has('model') ||
    !isTextOrNone(model);
  same('refused', read.kind === 'error', wrong);
  if (read.kind === 'error') return;
  const first = Array.isArray(rid) ? (rid[0] ?? null) : (rid ?? null);
  same('rid', read.rid, hasRid && first !== '' ? first : null);
  same('model', read.model, model ?? '');
  same('stream', read.streaming, parsed.members.get('stream') === true);
}

function isTextOrNone(value: Json | undefined): boolean {
  return value === undefined || value === null || (typeof value === 'string' && value.isWellFormed());
}

/** Of a list only the first element is read. */
function isRid(rid: Json | undefined, lists: boolean): boolean {
  if (!lists || !Array.isArray(rid)) return isTextOrNone(rid);
  if (!rid.every((element) => typeof element === 'string')) return false;
  return rid.length === 0 || String(rid[0]).isWellFormed();
}

function checkMembers(body: Buffer, scan: JsonScan, parsed: JsonObject): void {
  for (const [i, name] of WANTED.names.entries()) {
    const value = parsed.members.get(name);
    same('a member is found', scan.starts[i] !== -1, value !== undefined);
    same('a repetition is found', scan.repeats[i] !== -1, parsed.repeated.has(name));
    if (value === undefined) continue;
    const raw = parseJson(body.toString('utf8', scan.starts[i], scan.ends[i]));
    alike('its value', isObject(raw) ? [...raw.members] : raw, isObject(value) ? [...value.members] : value);
  }
}

function checkEdits(scan: JsonScan, parsed: JsonObject): void {
  const changed = parsedOf(setMembers(scan, WANTED, EDITS));
  if (!isObject(changed)) fail('a changed body is an object');
  const without = parsedOf(withoutMembers(scan, WANTED, [RID, STREAM]));
  if (!isObject(without)) fail('a body without a member is an object');
  same('the changed member', changed.members.get('model'), 'other');
  same('the changed member', changed.members.get('data_parallel_rank'), 7);
  for (const [name, value] of parsed.members) {
    const isGone = name === 'rid' || name === 'stream';
    same('a member is gone', without.members.has(name), !isGone);
    if (!isGone) alike('another stays', without.members.get(name), value);
    if (name !== 'model' && name !== 'data_parallel_rank') alike('another stays', changed.members.get(name), value);
  }
}

function rawOf({ bytes, starts, ends }: JsonScan, member: number): string {
  return (starts[member] ?? -1) < 0 ? '' : bytes.toString('latin1', starts[member], ends[member]);
}

function checkPrompt(endpoint: Endpoint, read: BodyFields, members: JsonScan, parsed: JsonObject): void {
  const prompt = new BodyPrompt(null, endpoint.kind, members);
  const ids =
    endpoint.kind === 'generate' ? inputIdsOracle(parsed.members.get('input_ids'), rawOf(members, INPUT_IDS)) : null;
  if (ids !== null) alike('token ids', [...(prompt.tokens ?? [])], ids);
  const text = routingText(endpoint.kind, parsed);
  if (text !== null) same('prompt', prompt.text, text.toWellFormed());
  const keys = new ScannedKeys(endpoint.kind, members, read.rid);
  const user = parsed.members.get('metadata');
  const id = isObject(user) ? user.members.get('user_id') : undefined;
  if (typeof id === 'string') same('key by pointer', keys.at(POINTERS[0]!), id.isWellFormed() ? plainKeyOf(id) : null);
}
