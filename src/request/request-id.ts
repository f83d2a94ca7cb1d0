import { isVisible, readVisible } from './header-readers.ts';
import type { RequestHead } from './request-head.ts';

/**
 * Name of the header that has the request id: the first of `names` with a readable value, null when there is none. An empty
 * value is readable; one with other bytes than visible ASCII is passed over (sticky-sessions 1.7).
 *
 * @param names lower-case header names, in order
 */
export function requestIdHeader(head: RequestHead, names: readonly string[]): string | null {
  for (let i = 0; i < names.length; i++) {
    const name = names[i] ?? '';
    const bytes = head.first(name);
    if (bytes !== undefined && isVisible(bytes)) return name;
  }
  return null;
}

/** The request id in the header that `requestIdHeader` named: visible ASCII, may be empty. */
export function requestIdIn(head: RequestHead, name: string): string {
  const bytes = head.first(name);
  return (bytes === undefined ? null : readVisible(bytes)) ?? '';
}

const ALPHANUMERICS = Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789');
const RANDOM_PART = 24;
const POOL_BYTES = 4096;

/** Makes request ids. Draws random bytes in batches, since one call for 24 bytes costs as much as one for 4,096. */
export class RequestIds {
  readonly #fill: (bytes: Buffer) => unknown;
  readonly #pool = Buffer.alloc(POOL_BYTES);
  readonly #text = Buffer.alloc(RANDOM_PART);
  #next = POOL_BYTES;

  /** @param fill fills a buffer with random bytes, as `crypto.randomFillSync` */
  constructor(fill: (bytes: Buffer) => unknown) {
    this.#fill = fill;
  }

  /** `prefix` and 24 alphanumerics, each of the 62 as likely as any other (sticky-sessions 1.7). */
  make(prefix: string): string {
    let length = 0;
    while (length < RANDOM_PART) {
      if (this.#next === POOL_BYTES) {
        this.#fill(this.#pool);
        this.#next = 0;
      }
      // Six bits have two values too many; those are drawn again, which keeps the choice uniform.
      const letter = ALPHANUMERICS[(this.#pool[this.#next++] ?? 0) & 0x3f];
      if (letter !== undefined) this.#text[length++] = letter;
    }
    return prefix + this.#text.toString('latin1');
  }
}
