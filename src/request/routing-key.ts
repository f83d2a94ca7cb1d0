/** Where a routing key can come from, apart from the body's bytes themselves. Hot path. */
import { MAX_KEY_BYTES, readAscii, readHint } from './header-readers.ts';
import { stripLineage } from './lineage.ts';
import type { RequestHead } from './request-head.ts';

/**
 * Raw header key: the first name of `names` whose value R-HINT accepts; null when there is none. A value that it rejects
 * falls through to the next name. Not stripped, since only the override strips header keys (sticky-sessions 1.3, 2.5).
 *
 * @param names lower-case header names, in order
 */
export function headerKey(head: RequestHead, names: readonly string[]): string | null {
  for (let i = 0; i < names.length; i++) {
    const value = head.first(names[i] ?? '');
    if (value === undefined) continue;
    const key = readHint(value);
    if (key !== null) return key;
  }
  return null;
}

/**
 * Implicit key of `consistent_hashing`: the first name of `names` that is present decides. If R-ASCII rejects its value
 * there is no key; the names after it are not tried (sticky-sessions 3.14).
 *
 * @param names lower-case header names, in order
 */
export function implicitKey(head: RequestHead, names: readonly string[]): string | null {
  for (let i = 0; i < names.length; i++) {
    const value = head.first(names[i] ?? '');
    if (value !== undefined) return readAscii(value);
  }
  return null;
}

/**
 * Sticky key of a body `rid`: lineage stripped, then capped at 128 UTF-8 bytes; null when it is empty or longer
 * (sticky-sessions 2.2, 2.3).
 */
export function ridKeyOf(rid: string): string | null {
  const key = stripLineage(rid);
  // A string has at most as many UTF-16 units as UTF-8 bytes: most over-long ones need no byte count.
  if (key.length === 0 || key.length > MAX_KEY_BYTES) return null;
  return Buffer.byteLength(key) > MAX_KEY_BYTES ? null : key;
}

/**
 * Raw key from a place other than a header or `rid`: 1 to 128 bytes of UTF-8 as in a header, and like there without control
 * characters; null for anything else.
 */
export function plainKeyOf(text: string): string | null {
  const length = text.length;
  if (length === 0 || length > MAX_KEY_BYTES) return null;
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x20 || code === 0x7f) return null;
  }
  return Buffer.byteLength(text) > MAX_KEY_BYTES ? null : text;
}
