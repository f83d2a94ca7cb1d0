import { isAscii } from 'node:buffer';
import { BACKSLASH } from './json-walker.ts';

/** Up to here a look at each byte is cheaper than the native calls. */
const SHORT_BYTES = 64;
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
  if (last - first <= SHORT_BYTES) {
    let all = 0;
    let i = first;
    for (; i < last; i++) {
      const byte = bytes[i] ?? 0;
      if (byte === BACKSLASH) break;
      all |= byte;
    }
    if (i === last && all < 0x80) return bytes.toString('latin1', first, last);
  }
  const raw = bytes.subarray(first, last);
  const encoding = isAscii(raw) ? 'latin1' : 'utf8';
  return raw.includes(BACKSLASH) ? unescaped(raw.toString(encoding)) : raw.toString(encoding);
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
  let i = first;
  while (i < length) {
    const size = sizeAt(bytes, i);
    if (i + size > length) return i;
    i += size;
  }
  return length;
}

/** Bytes of the character at `i`. Of the escape of half a surrogate pair, the bytes of the whole pair. */
function sizeAt(bytes: Buffer, i: number): number {
  const byte = bytes[i] ?? 0;
  if (byte === BACKSLASH) {
    if (bytes[i + 1] !== LETTER_U) return 2;
    return isHighSurrogate(bytes, i) ? 2 * ESCAPE_BYTES : ESCAPE_BYTES;
  }
  if (byte < 0xc0) return 1;
  return byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

/** `\ud800` to `\udbff`. */
function isHighSurrogate(bytes: Buffer, i: number): boolean {
  const second = (bytes[i + 3] ?? 0) | 0x20;
  return (
    ((bytes[i + 2] ?? 0) | 0x20) === 0x64 && (second === 0x38 || second === 0x39 || second === 0x61 || second === 0x62)
  );
}
