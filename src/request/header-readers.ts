/**
 * The two readers of sticky-sessions 1.1. Both take the raw bytes of the first value of a header and never trim, fold case,
 * unquote or decode it. Hot path.
 */
import { isUtf8 } from 'node:buffer';

/** Longest value of a hint, and longest sticky key, in UTF-8 bytes (sticky-sessions 1.1, 2.3). */
export const MAX_KEY_BYTES = 128;

const TAB = 0x09;

/** R-HINT: a value of 1..128 bytes of valid UTF-8; null for anything else, which counts as absent. */
export function readHint(bytes: Uint8Array): string | null {
  const length = bytes.length;
  if (length === 0 || length > MAX_KEY_BYTES) return null;
  let all = 0;
  for (let i = 0; i < length; i++) all |= bytes[i] ?? 0;
  if (all < 0x80) return asBuffer(bytes).toString('latin1');
  return isUtf8(bytes) ? asBuffer(bytes).toString('utf8') : null;
}

/** R-ASCII: a non-empty value of visible ASCII (0x20–0x7E) and tabs, of any length; null for anything else. */
export function readAscii(bytes: Uint8Array): string | null {
  return bytes.length === 0 ? null : readVisible(bytes);
}

/** As R-ASCII, but an empty value is a value: the rule for request ids (sticky-sessions 1.7). */
export function readVisible(bytes: Uint8Array): string | null {
  return isVisible(bytes) ? asBuffer(bytes).toString('latin1') : null;
}

/** Whether `readVisible` reads it. */
export function isVisible(bytes: Uint8Array): boolean {
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] ?? 0;
    if ((byte < 0x20 && byte !== TAB) || byte > 0x7e) return false;
  }
  return true;
}

function asBuffer(bytes: Uint8Array): Buffer {
  return bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
