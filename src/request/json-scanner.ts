/**
 * Finds members of a JSON object by one walk over its top level. Nothing nested is looked at and no value is decoded, so a
 * megabyte of prompt costs a search for its quotes (node-notes 5, decisions 8). Hot path.
 */
import { decodeString } from './json-string.ts';
import { BACKSLASH, CLOSE_BRACE, COLON, COMMA, JsonWalker, OPEN_BRACE, QUOTE } from './json-walker.ts';

/**
 * - `object`: one object, closed, with nothing but white space around it.
 * - `not_object`: the first value is of another type.
 * - `malformed`: something stands where an object cannot have it.
 * - `truncated`: the bytes end before the object does. Also the answer for no bytes at all.
 */
export type ScanStatus = 'object' | 'not_object' | 'malformed' | 'truncated';

/** Result of a scan. Positions are byte offsets, -1 for none; the three lists are indexed as the wanted names. */
export interface JsonScan {
  readonly bytes: Buffer;
  /** The names that were looked for. */
  readonly names: readonly string[];
  readonly status: ScanStatus;
  /** Where the walk ended: for `not_object` and `malformed` the offending byte. */
  readonly offset: number;
  /** What should have stood at `offset`, in words; empty when nothing is wrong. */
  readonly expected: string;
  /** First byte of the member's value, also when the value is cut or its first byte would come next. */
  readonly starts: readonly number[];
  /** Behind the last byte of the value; -1 for a value that the end of the bytes cuts. */
  readonly ends: readonly number[];
  /** Name of the member's second appearance. `starts` and `ends` tell of the first. */
  readonly repeats: readonly number[];
}

/** Longest spelling of one character: `\u0072`. */
const MAX_ESCAPE_BYTES = 6;

/** Names to look for at the top level. Made once, used for every scan. */
export class MemberNames {
  readonly names: readonly string[];
  readonly #encoded: readonly Buffer[];
  readonly #maxBytes: number;

  /** @param names different from each other, without backslashes */
  constructor(names: readonly string[]) {
    this.names = names;
    this.#encoded = names.map((name) => Buffer.from(name));
    this.#maxBytes = MAX_ESCAPE_BYTES * Math.max(0, ...names.map((name) => name.length));
  }

  /** Index of the name between two quotes, however it is escaped; -1 when it is not wanted. */
  find(bytes: Buffer, openingQuote: number, end: number): number {
    const start = openingQuote + 1;
    const length = end - 1 - start;
    for (let i = 0; i < this.#encoded.length; i++) {
      const name = this.#encoded[i];
      if (name?.length === length && equalsAt(bytes, start, name)) return i;
    }
    if (length > this.#maxBytes) return -1;
    for (let i = start; i < end - 1; i++) {
      if (bytes[i] !== BACKSLASH) continue;
      const text = decodeString(bytes, openingQuote, end);
      return text === null ? -1 : this.names.indexOf(text);
    }
    return -1;
  }
}

/** Walks the whole of `bytes`, or up to where they stop being a JSON object. A UTF-8 byte order mark is passed over. */
export function scanObject(bytes: Buffer, wanted: MemberNames): JsonScan {
  const scan = new ObjectScan(bytes, wanted.names);
  const walker = new JsonWalker(bytes, markLength(bytes));
  scan.status = walkBody(walker, wanted, scan);
  scan.offset = walker.at;
  return scan;
}

class ObjectScan implements JsonScan {
  readonly bytes: Buffer;
  readonly names: readonly string[];
  status: ScanStatus = 'truncated';
  offset = 0;
  expected = '';
  readonly starts: number[];
  readonly ends: number[];
  readonly repeats: number[];

  constructor(bytes: Buffer, names: readonly string[]) {
    const count = names.length;
    this.bytes = bytes;
    this.names = names;
    this.starts = new Array<number>(count).fill(-1);
    this.ends = new Array<number>(count).fill(-1);
    this.repeats = new Array<number>(count).fill(-1);
  }

  /** The status when `byte` is not what the grammar wants; the end of the bytes (-1) may still become right. */
  unexpected(byte: number, expected: string): ScanStatus {
    if (byte < 0) return 'truncated';
    this.expected = expected;
    return 'malformed';
  }
}

function walkBody(walker: JsonWalker, wanted: MemberNames, scan: ObjectScan): ScanStatus {
  const first = walker.next();
  if (first < 0) return 'truncated';
  if (first !== OPEN_BRACE) {
    scan.expected = 'an opening brace';
    return 'not_object';
  }
  const status = walkObject(walker, wanted, scan);
  if (status !== 'object') return status;
  const byte = walker.next();
  return byte < 0 ? 'object' : scan.unexpected(byte, 'nothing after the object');
}

/** Moves from an opening brace behind its closing one; `object` when it is whole. */
function walkObject(walker: JsonWalker, wanted: MemberNames, scan: ObjectScan): ScanStatus {
  walker.at++;
  let byte = walker.next();
  if (byte !== CLOSE_BRACE) {
    for (;;) {
      const status = walkMember(walker, wanted, scan);
      if (status !== 'object') return status;
      byte = walker.next();
      if (byte !== COMMA) break;
      walker.at++;
    }
    if (byte !== CLOSE_BRACE) return scan.unexpected(byte, 'a comma or a closing brace');
  }
  walker.at++;
  return 'object';
}

/** Moves over one `"name": value`; `object` when it is whole. */
function walkMember(walker: JsonWalker, wanted: MemberNames, scan: ObjectScan): ScanStatus {
  let byte = walker.next();
  if (byte !== QUOTE) return scan.unexpected(byte, 'a member name in double quotes');
  const name = walker.at;
  if (!walker.skipString()) return 'truncated';
  const nameEnd = walker.at;
  byte = walker.next();
  if (byte !== COLON) return scan.unexpected(byte, 'a colon');
  walker.at++;
  byte = walker.next();
  const start = walker.at;
  const skipped = byte < 0 ? 'cut' : walker.skipValue();
  if (skipped === 'none') return scan.unexpected(byte, 'a value');
  const index = wanted.find(walker.bytes, name, nameEnd);
  if (index >= 0) {
    if (scan.starts[index] !== -1) {
      if (scan.repeats[index] === -1) scan.repeats[index] = name;
    } else {
      scan.starts[index] = start;
      if (skipped === 'whole') scan.ends[index] = walker.at;
    }
  }
  return skipped === 'whole' ? 'object' : 'truncated';
}

/**
 * Reads objects within a body, one after the other. It is made once for all bodies, so that a thousand messages cost no
 * thousand results; what it found holds until it reads the next one.
 */
export class NestedObject {
  readonly #wanted: MemberNames;
  readonly #scan: ObjectScan;

  /** @param names see `MemberNames` */
  constructor(names: readonly string[]) {
    this.#wanted = new MemberNames(names);
    this.#scan = new ObjectScan(Buffer.alloc(0), names);
  }

  /**
   * Moves the walker behind the value at which it stands. False when that is not whole; the members before the fault are
   * found nevertheless. A value that is no object has none.
   */
  read(walker: JsonWalker): boolean {
    const scan = this.#scan;
    for (let i = 0; i < scan.starts.length; i++) {
      scan.starts[i] = -1;
      scan.ends[i] = -1;
    }
    if (walker.bytes[walker.at] !== OPEN_BRACE) return walker.skipValue() === 'whole';
    return walkObject(walker, this.#wanted, scan) === 'object';
  }

  /** First byte of the first member of that name, -1 for none. */
  start(index: number): number {
    return this.#scan.starts[index] ?? -1;
  }

  /** Behind its last byte; -1 when it is cut, or there is none. */
  end(index: number): number {
    return this.#scan.ends[index] ?? -1;
  }
}

const BYTE_ORDER_MARK: readonly number[] = [0xef, 0xbb, 0xbf];

/** Bytes of the mark at the front, or of its beginning when the bytes end within it. */
function markLength(bytes: Buffer): number {
  for (let i = 0; i < BYTE_ORDER_MARK.length; i++) {
    if (i === bytes.length) return i;
    if (bytes[i] !== BYTE_ORDER_MARK[i]) return 0;
  }
  return BYTE_ORDER_MARK.length;
}

function equalsAt(bytes: Buffer, start: number, name: Buffer): boolean {
  for (let i = 0; i < name.length; i++) {
    if (bytes[start + i] !== name[i]) return false;
  }
  return true;
}
