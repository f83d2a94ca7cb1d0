/**
 * How keys of cache namespaces are kept apart in the trees (policies 1.6.9): the key begins with a mark made of the
 * namespace's digest, and keys without a namespace never begin like one. Hot path.
 */
import { TOKEN_LENGTH } from './alphabet.ts';

const DELIMITER = '\u0001';
/** Characters of a mark of text. */
export const TEXT_MARK_LENGTH = 18;
/** Set in the ids of marks and in no id of a vocabulary. */
const MARK_BIT = 0x80000000;
/** Ids that carry the digest. */
const DIGEST_IDS = 2;

/** @param digest 16 lower-case hex digits */
export function textMark(digest: string): string {
  return DELIMITER + digest + DELIMITER;
}

/** The text without what could be taken for the beginning of a mark. */
export function withoutTextMark(text: string): string {
  let start = 0;
  while (text.charCodeAt(start) === 1) start += 1;
  return start === 0 ? text : text.substring(start);
}

/** Ids of a mark: the digest's two, in whole pages. */
export function tokenMarkLength(pageSize: number): number {
  return Math.ceil(DIGEST_IDS / pageSize) * pageSize;
}

/** @param digest 16 lower-case hex digits */
export function tokenMark(digest: string, pageSize: number): Uint32Array {
  const mark = new Uint32Array(tokenMarkLength(pageSize)).fill(MARK_BIT);
  mark[0] = MARK_BIT | Number.parseInt(digest.slice(0, 8), 16);
  mark[1] = MARK_BIT | Number.parseInt(digest.slice(8), 16);
  return mark;
}

/** The ids without leading ones that only marks have. */
export function withoutTokenMark(tokens: Uint32Array): Uint32Array {
  let start = 0;
  while (start < tokens.length && (tokens[start] as number) >= MARK_BIT) start += 1;
  return start === 0 ? tokens : tokens.subarray(start);
}

/** Token ids as a string, `TOKEN_LENGTH` code units each. */
export function tokenText(tokens: Uint32Array): string {
  return Buffer.from(tokens.buffer, tokens.byteOffset, tokens.length * 2 * TOKEN_LENGTH).toString('utf16le');
}
