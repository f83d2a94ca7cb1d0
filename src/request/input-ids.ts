/** Token ids of a body (policies 6.1, 6.3). Hot path. */
import { isInteger } from './json-integer.ts';
import { CLOSE_BRACKET, COMMA, JsonWalker, OPEN_BRACE, OPEN_BRACKET, QUOTE } from './json-walker.ts';

const MINUS = 0x2d;
const MAX_U32 = 0xffff_ffff;
const MAX_NEGATIVE = 0x8000_0000;
/** Ids have some four digits and a comma; the list grows when they are shorter. */
const BYTES_PER_ID = 4;

/**
 * Ids of `input_ids`: a list of them, or the first sequence of a batch. Negative ones are taken as the unsigned numbers of
 * the same bits. Null when there are none, or when anything else stands among them.
 *
 * @param start first byte of the value
 * @param end behind its last byte; -1 when the end of the bytes cuts it, which gives the ids that stand whole
 */
export function readInputIds(bytes: Buffer, start: number, end: number): Uint32Array | null {
  const walker = new JsonWalker(end < 0 ? bytes : bytes.subarray(0, end), start);
  if (!walker.enterArray()) return null;
  if (bytes[walker.at] === OPEN_BRACKET && !walker.enterArray()) return null;
  return readIds(walker);
}

/** From the first id to the end of its list. */
function readIds({ bytes, at: start }: JsonWalker): Uint32Array | null {
  const length = bytes.length;
  let ids = new Uint32Array(Math.ceil((length - start) / BYTES_PER_ID));
  let count = 0;
  for (let at = start; ; at++) {
    at = behindBlanks(bytes, at);
    const negative = bytes[at] === MINUS;
    if (negative) at++;
    const first = at;
    let id = 0;
    for (; at < length; at++) {
      const digit = (bytes[at] ?? 0) - 0x30;
      if (digit < 0 || digit > 9) break;
      id = id * 10 + digit;
    }
    if (id > (negative ? MAX_NEGATIVE : MAX_U32)) return null;
    // A number that touches the end may go on behind it.
    if (at === length) break;
    if (at === first) return null;
    if (count === ids.length) ids = grown(ids);
    ids[count++] = negative ? -id : id;
    at = behindBlanks(bytes, at);
    if (at === length || bytes[at] === CLOSE_BRACKET) break;
    if (bytes[at] !== COMMA) return null;
  }
  return count === 0 ? null : ids.slice(0, count);
}

function behindBlanks(bytes: Buffer, start: number): number {
  let at = start;
  while (at < bytes.length && isBlank(bytes[at] ?? 0)) at++;
  return at;
}

function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function grown(ids: Uint32Array): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(2 * ids.length + 1);
  larger.set(ids);
  return larger;
}

/** All ids of `input_ids` in decimal with a space between, batches after each other. What is no id is left out. */
export function inputIdsText(bytes: Buffer, start: number, end: number): string {
  const walker = new JsonWalker(end < 0 ? bytes : bytes.subarray(0, end), start);
  const ids: string[] = [];
  for (let byte = walker.next(); byte >= 0; byte = walker.next()) {
    if (byte === OPEN_BRACKET || byte === CLOSE_BRACKET || byte === COMMA) {
      walker.at++;
      continue;
    }
    const first = walker.at;
    if (walker.skipValue() !== 'whole') break;
    if (byte !== QUOTE && byte !== OPEN_BRACE && isInteger(bytes, first, walker.at)) {
      ids.push(bytes.toString('latin1', first, walker.at));
    }
  }
  return ids.join(' ');
}
