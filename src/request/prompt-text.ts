/**
 * Routing text by endpoint (policies 6.1): the strings of a prompt with a space between, without roles and markers. Parts of
 * another shape are passed over, since the worker judges them. Hot path.
 */
import { INPUT, INPUT_IDS, MESSAGES, PROMPT, QUERY, SYSTEM, TEXT } from './body-members.ts';
import type { EndpointKind } from './endpoint.ts';
import { inputIdsText } from './input-ids.ts';
import { type JsonScan, MemberNames, NestedObject } from './json-scanner.ts';
import { decodeText } from './json-text.ts';
import { JsonWalker, OPEN_BRACKET, QUOTE } from './json-walker.ts';

const ITEM = new NestedObject(['content', 'reasoning_content', 'role', 'type']);
const CONTENT = 0;
const REASONING_CONTENT = 1;
const ROLE = 2;
const TYPE = 3;

const PART = new NestedObject(['text', 'type']);
const PART_TEXT = 0;
const PART_TYPE = 1;

/** Values of `role` and `type` that matter. Types of content are told by the bit of their place. */
const WORDS = new MemberNames([
  'text',
  'input_text',
  'output_text',
  'reasoning_text',
  'assistant',
  'reasoning',
  'function_call',
  'function_call_output',
  'user',
]);
const TEXT_PART = 1 << 0;
const INPUT_OR_OUTPUT_PART = (1 << 1) | (1 << 2);
const REASONING_PART = 1 << 3;
const ASSISTANT = 4;
const REASONING = 5;
const FUNCTION_CALL = 6;
const FUNCTION_CALL_OUTPUT = 7;
const USER = 8;

/** Members that say that the server knows how a conversation began, so that `input` holds only what is new. */
export const GOES_ON: readonly string[] = ['previous_response_id', 'conversation'];
const LETTER_N = 0x6e;

/**
 * Text of a body's prompt, empty where it has none. Of the beginning of a body, the text up to the last whole character.
 *
 * @param scan of `BODY_MEMBERS`
 */
export function promptText(kind: EndpointKind, scan: JsonScan): string {
  const reader = new TextReader(scan);
  switch (kind) {
    case 'chat':
      reader.messages(true);
      break;
    case 'messages':
    case 'count_tokens':
      reader.system();
      reader.messages(false);
      break;
    case 'completions':
      reader.strings(PROMPT);
      break;
    case 'embeddings':
    case 'classify':
      reader.strings(INPUT);
      break;
    case 'rerank':
      reader.strings(QUERY);
      break;
    case 'responses':
      reader.items();
      break;
    case 'generate':
      return reader.strings(TEXT) ? reader.text : reader.idsText();
    default:
  }
  return reader.text;
}

/**
 * Text of the first message of the user, which all turns of a conversation hold and no other one is likely to; empty where a
 * body does not tell how its conversation began. What stands before it is often shared.
 *
 * @param scan of `BODY_MEMBERS` and `GOES_ON`
 */
export function openingText(kind: EndpointKind, scan: JsonScan): string {
  const reader = new TextReader(scan);
  if (kind === 'chat' || kind === 'messages' || kind === 'count_tokens') reader.opening(MESSAGES, TEXT_PART);
  else if (kind === 'responses' && !goesOn(scan)) reader.opening(INPUT, INPUT_OR_OUTPUT_PART);
  return reader.text;
}

/** Whether the bodies of an endpoint tell how their conversation began. */
export function hasOpening(kind: EndpointKind): boolean {
  return kind === 'chat' || kind === 'messages' || kind === 'count_tokens' || kind === 'responses';
}

function goesOn({ bytes, names, starts }: JsonScan): boolean {
  for (const name of GOES_ON) {
    const start = starts[names.indexOf(name)] ?? -1;
    if (start >= 0 && bytes[start] !== LETTER_N) return true; // not null
  }
  return false;
}

class TextReader {
  readonly #scan: JsonScan;
  readonly #pieces: string[] = [];

  constructor(scan: JsonScan) {
    this.#scan = scan;
  }

  /** The pieces found so far. Joining once makes it flat, and copies each character once. */
  get text(): string {
    const pieces = this.#pieces;
    return pieces.length === 1 ? (pieces[0] ?? '') : pieces.join(' ');
  }

  /** A string, or the strings of a list, empty ones too. False when the member is neither. */
  strings(member: number): boolean {
    const walker = this.#walkerAt(member);
    if (walker === null) return false;
    const byte = walker.bytes[walker.at];
    if (byte === QUOTE) this.#string(walker.bytes, walker.at, this.#scan.ends[member] ?? -1, true);
    else if (byte !== OPEN_BRACKET) return false;
    for (let more = walker.enterArray(); more; more = walker.nextElement()) {
      const start = walker.at;
      const skipped = walker.skipValue();
      if (skipped === 'none') break;
      this.#string(walker.bytes, start, skipped === 'whole' ? walker.at : -1, true);
    }
    return true;
  }

  idsText(): string {
    const { bytes, starts, ends } = this.#scan;
    const start = starts[INPUT_IDS] ?? -1;
    return start < 0 || bytes[start] !== OPEN_BRACKET ? '' : inputIdsText(bytes, start, ends[INPUT_IDS] ?? -1);
  }

  /** `system` of `/v1/messages`: a string or blocks. */
  system(): void {
    const walker = this.#walkerAt(SYSTEM);
    if (walker !== null) this.#content(walker, walker.at, this.#scan.ends[SYSTEM] ?? -1, TEXT_PART, false);
  }

  /** @param reasons whether assistants' `reasoning_content` counts */
  messages(reasons: boolean): void {
    const walker = this.#walkerAt(MESSAGES);
    if (walker === null) return;
    for (let more = walker.enterArray(); more; more = walker.nextElement()) {
      const whole = ITEM.read(walker);
      const behind = walker.at;
      this.#content(walker, ITEM.start(CONTENT), ITEM.end(CONTENT), TEXT_PART, false);
      if (reasons && wordOf(walker.bytes, ITEM, ROLE) === ASSISTANT) {
        this.#string(walker.bytes, ITEM.start(REASONING_CONTENT), ITEM.end(REASONING_CONTENT), false);
      }
      if (!whole) return;
      walker.at = behind;
    }
  }

  /** `input` of `/v1/responses`: a string or items. Here an empty piece is a piece. */
  items(): void {
    const walker = this.#walkerAt(INPUT);
    if (walker === null) return;
    this.#string(walker.bytes, walker.at, this.#scan.ends[INPUT] ?? -1, true);
    for (let more = walker.enterArray(); more; more = walker.nextElement()) {
      const whole = ITEM.read(walker);
      const behind = walker.at;
      const type = wordOf(walker.bytes, ITEM, TYPE);
      if (type !== FUNCTION_CALL && type !== FUNCTION_CALL_OUTPUT) {
        const parts = type === REASONING ? REASONING_PART : INPUT_OR_OUTPUT_PART;
        this.#content(walker, ITEM.start(CONTENT), ITEM.end(CONTENT), parts, true);
      }
      if (!whole) return;
      walker.at = behind;
    }
  }

  /** The first item of the user, or an `input` that is a string; nothing where it is cut. */
  opening(member: number, types: number): void {
    const walker = this.#walkerAt(member);
    if (walker === null) return;
    const end = this.#scan.ends[member] ?? -1;
    if (end >= 0) this.#string(walker.bytes, walker.at, end, false);
    for (let more = walker.enterArray(); more; more = walker.nextElement()) {
      const whole = ITEM.read(walker);
      if (wordOf(walker.bytes, ITEM, ROLE) === USER) {
        if (ITEM.end(CONTENT) >= 0) this.#content(walker, ITEM.start(CONTENT), ITEM.end(CONTENT), types, false);
        return;
      }
      if (!whole) return;
    }
  }

  /**
   * A string, or the text of the parts of a list; moves the walker.
   *
   * @param types bits of the types of parts that count
   */
  #content(walker: JsonWalker, start: number, end: number, types: number, keepEmpty: boolean): void {
    if (start < 0) return;
    this.#string(walker.bytes, start, end, keepEmpty);
    walker.at = start;
    for (let more = walker.enterArray(); more; more = walker.nextElement()) {
      const whole = PART.read(walker);
      const type = wordOf(walker.bytes, PART, PART_TYPE);
      if (type >= 0 && ((1 << type) & types) !== 0) {
        this.#string(walker.bytes, PART.start(PART_TEXT), PART.end(PART_TEXT), keepEmpty);
      }
      if (!whole) return;
    }
  }

  /** Adds a string; nothing when something else, or nothing, stands at `start`. */
  #string(bytes: Buffer, start: number, end: number, keepEmpty: boolean): void {
    if (bytes[start] !== QUOTE) return;
    const text = decodeText(bytes, start, end);
    if (keepEmpty || text !== '') this.#pieces.push(text);
  }

  /** At a member, within which it stays; null when the body has none of that name. */
  #walkerAt(member: number): JsonWalker | null {
    const { bytes, starts, ends } = this.#scan;
    const start = starts[member] ?? -1;
    const end = ends[member] ?? -1;
    if (start < 0) return null;
    return new JsonWalker(end < 0 ? bytes : bytes.subarray(0, end), start);
  }
}

/** Place in `WORDS` of a member's string, -1 for another value or none. */
function wordOf(bytes: Buffer, object: NestedObject, member: number): number {
  const start = object.start(member);
  const end = object.end(member);
  return end < 0 || bytes[start] !== QUOTE ? -1 : WORDS.find(bytes, start, end);
}
