import { createHash, timingSafeEqual } from 'node:crypto';
import type { ApiKey, ApiRole } from '../config/text-types.ts';

/** Who sent a request, as far as its key tells. */
export interface Caller {
  /** Id of the key, for logs. */
  readonly id: string;
  readonly role: ApiRole;
}

interface KnownKey {
  readonly caller: Caller;
  readonly digest: Buffer;
}

/** The keys of `--control-plane-api-keys`. */
export class BearerKeys {
  readonly #keys: readonly KnownKey[];

  constructor(keys: readonly ApiKey[]) {
    this.#keys = keys.map(({ id, role, key }) => ({ caller: { id, role }, digest: digestOf(key) }));
  }

  /** True when keys are configured; without any, everybody may do everything. */
  get required(): boolean {
    return this.#keys.length > 0;
  }

  /**
   * Caller of an `authorization` header (RFC 6750 2.1), null without a valid key. Takes as long for a wrong key as for a
   * right one: every key is compared, by digests of equal length.
   */
  callerOf(authorization: string | undefined): Caller | null {
    const token = /^Bearer +([^ ]+) *$/i.exec(authorization ?? '')?.[1];
    if (token === undefined) return null;
    const digest = digestOf(token);
    let caller: Caller | null = null;
    for (const known of this.#keys) {
      if (timingSafeEqual(known.digest, digest)) caller = known.caller;
    }
    return caller;
  }
}

function digestOf(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
