/** Whose request it is, as a header says (`--tenant-header`, sticky-sessions P15). Hot path. */
import { hash } from 'node:crypto';
import { isVisible } from './header-readers.ts';
import type { RequestHead } from './request-head.ts';

/** Scope of all requests while no header is named. */
export const NO_SCOPE = '';

/** Scope of requests that do not have the header: not that of any value, also not of an empty one. */
const NOBODY = '@-:';
/** Longest value that stands in a scope as it is, in bytes: names have to be bounded, whatever a header holds. */
const MAX_CLEAR_BYTES = 64;
/** Characters base64url of 132 bits. */
const DIGEST_LENGTH = 22;

/**
 * What stands before every key of a request, so that keys of different tenants are different: `@<bytes>:<value>:`, or
 * `@#<digest>:` where the value is long or not plain ASCII. None is the beginning of another, and no pin key without a
 * scope begins like one.
 *
 * @param header lower-case name; null: tenants are not told apart
 */
export function tenantScope(head: RequestHead, header: string | null): string {
  if (header === null) return NO_SCOPE;
  const value = head.first(header);
  return value === undefined ? NOBODY : scopeOf(value);
}

/** Scope of one value of the header, null for requests without it. */
export function scopeOfTenant(tenant: string | null): string {
  return tenant === null ? NOBODY : scopeOf(Buffer.from(tenant));
}

function scopeOf(value: Uint8Array): string {
  if (value.length > MAX_CLEAR_BYTES || !isVisible(value)) {
    return `@#${hash('sha256', value, 'base64url').slice(0, DIGEST_LENGTH)}:`;
  }
  return `@${value.length}:${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('latin1')}:`;
}

/** Whose a scoped name is. */
export interface Tenant {
  /** Null for requests without the header, and where only the digest is known. */
  readonly name: string | null;
  readonly digest: string | null;
}

/** The scope that a name begins with. */
export interface ScopedName {
  /** Null for a name without a scope. */
  readonly tenant: Tenant | null;
  /** Where the rest begins. */
  readonly end: number;
}

const UNSCOPED: ScopedName = { tenant: null, end: 0 };

/** Reads the scope of a name back; what is no scope belongs to the name. */
export function readScope(scoped: string): ScopedName {
  if (scoped.charCodeAt(0) !== AT) return UNSCOPED;
  if (scoped.startsWith(NOBODY)) return { tenant: { name: null, digest: null }, end: NOBODY.length };
  if (scoped.startsWith('@#')) {
    const end = 2 + DIGEST_LENGTH;
    return { tenant: { name: null, digest: scoped.slice(2, end) }, end: end + 1 };
  }
  const colon = scoped.indexOf(':');
  const end = colon + 1 + Number(scoped.slice(1, colon));
  return { tenant: { name: scoped.slice(colon + 1, end), digest: null }, end: end + 1 };
}

const AT = 0x40;
