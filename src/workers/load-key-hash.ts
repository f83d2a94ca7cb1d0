import { createHmac } from 'node:crypto';

/** Where FNV-1a begins. */
const PUBLIC_START = 0x811c9dc5;

/**
 * 32 bits by which replicas speak of a load key, so that no key of a client leaves the process; a signed integer. FNV-1a, of
 * the characters at even and at odd places apart: each step of one waits for the step before, and so two go at a time.
 *
 * Anybody can make keys of one hash, and keys of one hash count together. With a secret, only who knows it can. All
 * replicas must have the same one, or none.
 */
export class LoadKeyHash {
  readonly #even: number;
  readonly #odd: number;

  constructor(secret: Uint8Array | null) {
    const start = secret === null ? null : createHmac('sha256', secret).update('load keys').digest();
    this.#even = start === null ? PUBLIC_START : start.readInt32BE(0);
    this.#odd = start === null ? PUBLIC_START : start.readInt32BE(4);
  }

  /** Hot path. */
  of(loadKey: string): number {
    let even = this.#even;
    let odd = this.#odd;
    const { length } = loadKey;
    for (let i = 1; i < length; i += 2) {
      even = Math.imul(even ^ loadKey.charCodeAt(i - 1), 0x01000193);
      odd = Math.imul(odd ^ loadKey.charCodeAt(i), 0x01000193);
    }
    if ((length & 1) === 1) even = Math.imul(even ^ loadKey.charCodeAt(length - 1), 0x01000193);
    return Math.imul(even ^ (odd >>> 15), 0x85ebca6b) ^ odd;
  }
}

/** Of replicas without a secret. */
export const PUBLIC_HASH = new LoadKeyHash(null);
