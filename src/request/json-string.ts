import { isUtf8 } from 'node:buffer';
import { BACKSLASH } from './json-walker.ts';

/**
 * Text of the JSON string in `bytes` from its opening quote at `start` to behind its closing quote at `end`. Null when it
 * is none: a control character, an unknown escape, invalid UTF-8 or half a surrogate pair, all of which SMG refuses too.
 */
export function decodeString(bytes: Buffer, start: number, end: number): string | null {
  const first = start + 1;
  const last = end - 1;
  let all = 0;
  for (let i = first; i < last; i++) {
    const byte = bytes[i] ?? 0;
    if (byte === BACKSLASH) return decodeEscaped(bytes, start, end);
    if (byte < 0x20) return null;
    all |= byte;
  }
  if (all < 0x80) return bytes.toString('latin1', first, last);
  return isUtf8(bytes.subarray(first, last)) ? bytes.toString('utf8', first, last) : null;
}

function decodeEscaped(bytes: Buffer, start: number, end: number): string | null {
  if (!isUtf8(bytes.subarray(start, end))) return null;
  try {
    const text: unknown = JSON.parse(bytes.toString('utf8', start, end));
    // Half a surrogate pair names no character and has no UTF-8 form.
    return typeof text === 'string' && text.isWellFormed() ? text : null;
  } catch {
    return null;
  }
}
