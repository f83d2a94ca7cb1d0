/** What `prefix_hash` hashes (policies 1.7). Hot path. */
import type { RoutingRequest } from '../request/routing-request.ts';
import { xxh3, xxh3OfIds } from '../util/xxh3.ts';
import type { PrefixHashParameters } from './policy-parameters.ts';
import { type KeyRules, prefixKeyOf } from './routing-keys.ts';

/** Characters that a token counts for in a text. */
const CHARS_PER_TOKEN = 4;

/**
 * One of the keys that place a request on the ring, deepest prefix first: its XXH3-64 in hex. Null past the last of them,
 * and always for a request that has none.
 *
 * A routing key stands for the whole prompt; else it is the first tokens or characters up to each boundary that the prompt
 * reaches, and up to the fixed depth where it reaches none.
 *
 * @param level 0 is the deepest
 */
export function prefixKey(
  request: RoutingRequest,
  level: number,
  rules: KeyRules,
  parameters: PrefixHashParameters,
): string | null {
  const key = prefixKeyOf(request, rules);
  if (key !== null) return level === 0 ? xxh3(Buffer.from(key)) : null;
  const { tokens, text } = request.prompt;
  if (tokens !== null) return tokenKey(tokens, level, parameters);
  return text === null || text === '' ? null : textKey(text, level, parameters);
}

function tokenKey(tokens: Uint32Array, level: number, parameters: PrefixHashParameters): string | null {
  const { cacheBoundaries: boundaries, prefixTokenCount } = parameters;
  let deepest = boundaries.length - 1;
  while (deepest >= 0 && (boundaries[deepest] ?? 0) > tokens.length) deepest--;
  if (deepest < 0) return level === 0 ? xxh3OfIds(tokens, Math.min(tokens.length, prefixTokenCount)) : null;
  return level > deepest ? null : xxh3OfIds(tokens, boundaries[deepest - level] ?? 0);
}

function textKey(text: string, level: number, parameters: PrefixHashParameters): string | null {
  const { cacheBoundaries: boundaries, prefixTokenCount } = parameters;
  let deepest = boundaries.length - 1;
  let end = -1;
  for (; deepest >= 0; deepest--) {
    end = endOfChars(text, (boundaries[deepest] ?? 0) * CHARS_PER_TOKEN);
    if (end >= 0) break;
  }
  if (deepest < 0) {
    end = endOfChars(text, prefixTokenCount * CHARS_PER_TOKEN);
    return level === 0 ? hashText(text, end < 0 ? text.length : end) : null;
  }
  if (level > deepest) return null;
  if (level > 0) end = endOfChars(text, (boundaries[deepest - level] ?? 0) * CHARS_PER_TOKEN);
  return hashText(text, end);
}

function hashText(text: string, end: number): string {
  return xxh3(Buffer.from(text.slice(0, end)));
}

/** Where in `text` its first `count` Unicode characters end, in UTF-16 units; -1 when it has fewer. */
function endOfChars(text: string, count: number): number {
  if (text.length < count) return -1;
  let end = 0;
  for (let chars = 0; chars < count; chars++) {
    if (end >= text.length) return -1;
    const unit = text.charCodeAt(end);
    end += unit >= 0xd800 && unit < 0xdc00 ? 2 : 1;
  }
  return end;
}
