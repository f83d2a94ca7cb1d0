import { createHmac, createSecretKey, hash, type KeyObject } from 'node:crypto';

/**
 * Names of pin keys in a shared store: of one size, and no client's key can be read there (sticky-sessions P15).
 *
 * Without a secret, who reads the store can still try keys that are easy to guess; with one, only who knows it too. All
 * replicas must have the same secret, or none.
 */
export class PinNames {
  readonly #secret: KeyObject | null;

  constructor(secret: Uint8Array | null) {
    this.#secret = secret === null ? null : createSecretKey(secret);
  }

  /** First 128 bits of the SHA-256 (HMAC-SHA-256 with a secret) of the key in UTF-8: 22 characters base64url. */
  nameOf(pinKey: string): string {
    const digest =
      this.#secret === null
        ? hash('sha256', pinKey, 'base64url')
        : createHmac('sha256', this.#secret).update(pinKey).digest('base64url');
    return first128Bits(digest);
  }
}

/** By the text, which costs a third of what cutting the bytes does. */
function first128Bits(digest: string): string {
  return digest.slice(0, 21) + LAST.charAt(BASE64URL.indexOf(digest.charAt(21)) >> 4);
}

const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** The 22nd character carries two bits, the upper ones: these are the characters without the lower four. */
const LAST = 'AQgw';
