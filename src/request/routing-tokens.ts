import type { RequestHead } from './request-head.ts';

export const ROUTING_TOKENS_HEADER = 'x-smg-routing-tokens';

/** Limits of the hint (sticky-sessions 1.5). */
export const MAX_TOKENS_BYTES = 4096;
export const MAX_TOKENS = 512;

const MAX_U32 = 0xffff_ffff;
const COMMA = 0x2c;
const scratch = new Uint32Array(MAX_TOKENS);

/** Token ids of the routing tokens header; null when it is absent or not exactly of its grammar. */
export function readRoutingTokens(head: RequestHead): Uint32Array | null {
  const value = head.first(ROUTING_TOKENS_HEADER);
  return value === undefined ? null : parseRoutingTokens(value);
}

/** Whether `readRoutingTokens` reads them. */
export function hasRoutingTokens(head: RequestHead): boolean {
  const value = head.first(ROUTING_TOKENS_HEADER);
  return value !== undefined && scan(value) > 0;
}

/** Comma separated decimal ids, all or nothing: any violation makes the whole hint absent (sticky-sessions 1.5). */
export function parseRoutingTokens(bytes: Uint8Array): Uint32Array | null {
  const count = scan(bytes);
  return count === 0 ? null : scratch.slice(0, count);
}

/** Puts the ids into `scratch` and answers how many there are; 0 for text that is no hint. */
function scan(bytes: Uint8Array): number {
  const length = bytes.length;
  if (length === 0 || length > MAX_TOKENS_BYTES) return 0;
  let count = 0;
  let id = 0;
  let digits = 0;
  // One step past the end stands for a last comma, which closes the last id.
  for (let i = 0; i <= length; i++) {
    const byte = i < length ? (bytes[i] ?? 0) : COMMA;
    if (byte === COMMA) {
      if (digits === 0 || count === MAX_TOKENS) return 0;
      scratch[count++] = id;
      id = 0;
      digits = 0;
      continue;
    }
    const digit = byte - 0x30;
    if (digit < 0 || digit > 9) return 0;
    id = id * 10 + digit;
    if (id > MAX_U32) return 0;
    digits++;
  }
  return count;
}
