/** Which key a request is routed by, policy by policy (sticky-sessions 2.4–2.6). Hot path. */
import { readAscii } from '../request/header-readers.ts';
import { stripLineage } from '../request/lineage.ts';
import type { RequestHead } from '../request/request-head.ts';
import { headerKey, implicitKey } from '../request/routing-key.ts';
import type { RoutingRequest } from '../request/routing-request.ts';
import type { Trail } from './decision.ts';

/**
 * Which of two keys wins: the body `rid` (SMG), a header key, which saves reading the body, or only ever a header
 * (`--routing-key-order`).
 */
export const KEY_ORDERS = ['rid-first', 'header-first', 'header-only'] as const;
export type KeyOrder = (typeof KEY_ORDERS)[number];

export const ROUTING_KEY_HEADER = 'x-smg-routing-key';
const OWN_HEADER: readonly string[] = [ROUTING_KEY_HEADER];

export interface KeyRules {
  /** Sticky override on: `rid` counts, and the override strips its header keys. */
  readonly override: boolean;
  readonly order: KeyOrder;
  /** Lower-case names, in order (sticky-sessions 1.3). */
  readonly headers: readonly string[];
  /** Lower-case names of the implicit keys of `consistent_hashing`, in order (sticky-sessions 3.14). */
  readonly implicitHeaders: readonly string[];
  /** An implicit header without a usable value hides those after it; SMG until 1.12 (smg-observed 2). */
  readonly implicitBlocks: boolean;
  /** `manual` reads `headers` instead of its own header; SMG from 1.12 on (smg-observed 2). */
  readonly manualReadsList: boolean;
}

/** How one policy reads its key from the headers (sticky-sessions 2.5). */
export type HeaderKeyReader = (head: RequestHead, rules: KeyRules) => string | null;

/** The configured list, stripped while the override is on: the override itself, and the load key under any policy. */
export const readListedKey: HeaderKeyReader = (head, rules) => {
  const key = headerKey(head, rules.headers);
  return key === null || !rules.override ? key : stripLineage(key);
};

/** `manual`: its own header whatever the list says, plain ASCII of any length, never stripped. */
export const readManualKey: HeaderKeyReader = (head) => {
  const value = head.first(ROUTING_KEY_HEADER);
  return value === undefined ? null : readAscii(value);
};

/** The configured list, never stripped: `manual` in newer releases of SMG. */
const readRawListedKey: HeaderKeyReader = (head, rules) => headerKey(head, rules.headers);

/** How `manual` reads its key under these rules. */
export function manualReader({ manualReadsList }: KeyRules): HeaderKeyReader {
  return manualReadsList ? readRawListedKey : readManualKey;
}

/** `consistent_hashing`: the configured list, then its own header, never stripped. */
export const readRingKey: HeaderKeyReader = (head, rules) =>
  headerKey(head, rules.headers) ?? headerKey(head, OWN_HEADER);

/** The key of a request, null when it has none. Where it came from goes to `trail`, if there is one. */
export function keyOf(
  request: RoutingRequest,
  rules: KeyRules,
  readHeader: HeaderKeyReader,
  trail: Trail | null,
): string | null {
  const rid = rules.override && rules.order !== 'header-only' ? request.ridKey : null;
  if (rid === null || rules.order === 'header-first') {
    const key = readHeader(request.head, rules);
    if (key !== null) {
      if (trail !== null) trail.keySource = 'header';
      return key;
    }
  }
  if (rid !== null && trail !== null) trail.keySource = 'rid';
  return rid;
}

/** The key under which a request counts as in flight, the same under every policy (sticky-sessions 2.6). */
export function loadKeyOf(request: RoutingRequest, rules: KeyRules): string | null {
  return keyOf(request, rules, readListedKey, null);
}

/** The key that places a request on the ring: a routing key, else an implicit one (sticky-sessions 3.14). */
export function ringKeyOf(request: RoutingRequest, rules: KeyRules): string | null {
  return (
    keyOf(request, rules, readRingKey, null) ?? implicitKey(request.head, rules.implicitHeaders, rules.implicitBlocks)
  );
}
