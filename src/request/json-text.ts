import { isAscii } from 'node:buffer';
import { BACKSLASH } from './json-walker.ts';

/** Up to here a look at each byte is cheaper than the native calls. */
const SHORT_BYTES = 64;
const LETTER_D = 0x64;
const LETTER_U = 0x75;
/** Length of `\u0041`. */
const ESCAPE_BYTES = 6;

/**
 * Text of a JSON string for placement, where `decodeString` would judge: invalid UTF-8 and halves of surrogate pairs become
 * U+FFFD, and a string with a wrong escape is empty, since its worker refuses it anyway. The result is flat and well-formed.
 *
 * @param start its opening quote
 * @param end behind its closing quote; -1 when the end of the bytes cuts it, which gives the text up to its last whole
 *   character
 */
export function decodeText(bytes: Buffer, start: number, end: number): string {
  const first = start + 1;
  const last = end < 0 ? lastWhole(bytes, first) : end - 1;
  if (last - first <= SHORT_BYTES && isPlain(bytes, first, last)) return bytes.toString('latin1', first, last);
  const raw = bytes.subarray(first, last);
  const encoding = isAscii(raw) ? 'latin1' : 'utf8';
  return raw.includes(BACKSLASH) ? unescaped(raw.toString(encoding)) : raw.toString(encoding);
}

/** ASCII without escapes. */
function isPlain(bytes: Buffer, first: number, last: number): boolean {
  for (let i = first; i < last; i++) {
    const byte = bytes[i] ?? 0;
    if (byte === BACKSLASH || byte >= 0x80) return false;
  }
  return true;
}

function unescaped(raw: string): string {
  try {
    const text: unknown = JSON.parse(`"${raw}"`);
    return typeof text === 'string' ? text.toWellFormed() : '';
  } catch {
    return '';
  }
}

/** Behind the last character from `first` on that stands whole before the end of the bytes. */
function lastWhole(bytes: Buffer, first: number): number {
  const length = bytes.length;
  let last = first;
  let i = first;
  while (i < length) {
    const size = sizeAt(bytes, i);
    if (i + size > length) break;
    last = i;
    i += size;
  }
  // The other half of a surrogate pair may have stood behind the end.
  return isFirstHalf(bytes, last) ? last : i;
}

/** Bytes of the character, or of the escape, at `i`. */
function sizeAt(bytes: Buffer, i: number): number {
  const byte = bytes[i] ?? 0;
  if (byte === BACKSLASH) return bytes[i + 1] === LETTER_U ? ESCAPE_BYTES : 2;
  if (byte < 0xc0) return 1;
  return byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

/** `\ud800` to `\udbff`. */
function isFirstHalf(bytes: Buffer, i: number): boolean {
  if (bytes[i] !== BACKSLASH || bytes[i + 1] !== LETTER_U || ((bytes[i + 2] ?? 0) | 0x20) !== LETTER_D) return false;
  const second = (bytes[i + 3] ?? 0) | 0x20;
  return second === 0x38 || second === 0x39 || second === 0x61 || second === 0x62;
}
