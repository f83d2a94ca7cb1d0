import { xxh3 } from '../util/xxh3.ts';
import { CACHE_SALT, EXTRA_KEY, LORA_ID, LORA_PATH } from './body-members.ts';
import type { EndpointKind } from './endpoint.ts';
import type { JsonScan } from './json-scanner.ts';
import { decodeString } from './json-string.ts';
import { QUOTE } from './json-walker.ts';

const DOMAIN = Buffer.from('smg/cache-namespace/v1');

/**
 * Digest of what keeps equal prompts of a body apart in the engine's cache, as 16 lower-case hex digits; null for none
 * (policies 1.6.9). The adapter is `lora_path`; on `/generate` `lora_id` where that is missing or null, though not where it
 * is empty. A member that is empty or no string counts as absent.
 */
export function cacheNamespace(kind: EndpointKind, scan: JsonScan): string | null {
  if (kind !== 'chat' && kind !== 'completions' && kind !== 'messages' && kind !== 'generate') return null;
  const salt = stringOf(scan, CACHE_SALT);
  const extra = stringOf(scan, EXTRA_KEY);
  const path = stringOf(scan, LORA_PATH);
  const lora = path === null && kind === 'generate' ? stringOf(scan, LORA_ID) : path;
  if (!salt && !extra && !lora) return null;
  return xxh3(Buffer.concat([DOMAIN, fieldBytes(salt), fieldBytes(extra), fieldBytes(lora)]));
}

/** Null for a member that is missing, cut, or no valid string. */
function stringOf({ bytes, starts, ends }: JsonScan, member: number): string | null {
  const start = starts[member] ?? -1;
  const end = ends[member] ?? -1;
  return end < 0 || bytes[start] !== QUOTE ? null : decodeString(bytes, start, end);
}

/** A presence byte; for a value that is there its length in bytes, as a little-endian 64-bit number, and the bytes. */
function fieldBytes(text: string | null): Buffer {
  if (!text) return Buffer.alloc(1);
  const length = Buffer.byteLength(text);
  const field = Buffer.alloc(9 + length);
  field[0] = 1;
  field.writeUInt32LE(length, 1);
  field.write(text, 9);
  return field;
}
