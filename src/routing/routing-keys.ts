/** Which key a request is routed by, policy by policy (sticky-sessions 2.4–2.6). Hot path. */
import type { BodyKeys } from '../request/body-keys.ts';
import { readAscii } from '../request/header-readers.ts';
import { stripLineage } from '../request/lineage.ts';
import type { RequestHead } from '../request/request-head.ts';
import { headerKey, implicitKey } from '../request/routing-key.ts';
import type { RoutingRequest } from '../request/routing-request.ts';
import type { Trail } from './decision.ts';
import { furtherHeadKey, type KeySource } from './key-sources.ts';

export const ROUTING_KEY_HEADER = 'x-smg-routing-key';
const OWN_HEADER: readonly string[] = [ROUTING_KEY_HEADER];

export interface KeyRules {
  /** Sticky override on: `rid` counts, and the override strips its header keys. */
  readonly override: boolean;
  /** Where a key is looked for; the first one that is found wins. Each is there at most once. */
  readonly sources: readonly KeySource[];
  /** Lower-case names, in order (sticky-sessions 1.3). */
  readonly headers: readonly string[];
  /** Lower-case names of the implicit keys of `consistent_hashing`, in order (sticky-sessions 3.14). */
  readonly implicitHeaders: readonly string[];
  /** `manual` reads as `consistent_hashing` does instead of its own header alone; SMG from 1.12 on (smg-observed 2). */
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

/** The configured list, never stripped: what `prefix_hash` hashes. */
const readRawListedKey: HeaderKeyReader = (head, rules) => headerKey(head, rules.headers);

/** `consistent_hashing`: the configured list, then its own header, never stripped. */
export const readRingKey: HeaderKeyReader = (head, rules) =>
  readRawListedKey(head, rules) ?? headerKey(head, OWN_HEADER);

/** How `manual` reads its key under these rules. */
export function manualReader({ manualReadsList }: KeyRules): HeaderKeyReader {
  return manualReadsList ? readRingKey : readManualKey;
}

/** The key of a request, null when it has none. Where it came from goes to `trail`, if there is one. */
export function keyOf(
  { head, bodyKeys }: RoutingRequest,
  rules: KeyRules,
  readHeader: HeaderKeyReader,
  trail: Trail | null,
): string | null {
  return find(head, bodyKeys, rules, readHeader, trail);
}

/** The key of a request whose body has none. */
export function keyOfHead(head: RequestHead, rules: KeyRules, readHeader: HeaderKeyReader): string | null {
  return find(head, null, rules, readHeader, null);
}

function find(
  head: RequestHead,
  body: BodyKeys | null,
  rules: KeyRules,
  readHeader: HeaderKeyReader,
  trail: Trail | null,
): string | null {
  const { sources } = rules;
  for (let i = 0; i < sources.length; i++) {
    const source = sources[i];
    if (source === undefined) continue;
    const key = headKey(source, head, rules, readHeader) ?? bodyKey(source, body, rules);
    if (key === null) continue;
    if (trail !== null) trail.keySource = source.place;
    return key;
  }
  return null;
}

/**
 * The key that a source finds in the head, null for none and for a source of the body. What is no header of SMG is read
 * alike under every policy: stripped while the override is on.
 */
export function headKey(
  source: KeySource,
  head: RequestHead,
  rules: KeyRules,
  readHeader: HeaderKeyReader,
): string | null {
  if (source.place === 'header') return readHeader(head, rules);
  const key = furtherHeadKey(source, head);
  return key === null || !rules.override ? key : stripLineage(key);
}

/** The key that a source finds in the body, null for none. */
function bodyKey({ place, pointer }: KeySource, body: BodyKeys | null, { override }: KeyRules): string | null {
  if (body === null) return null;
  if (place === 'rid') return override ? body.rid : null;
  if (place === 'opening') return body.opening;
  const key = pointer === null ? null : body.at(pointer);
  return key === null || !override ? key : stripLineage(key);
}

/** What `prefix_hash` hashes instead of a prompt: any key but a `rid`, whose header is not stripped either, as in SMG. */
export function prefixKeyOf(request: RoutingRequest, rules: KeyRules): string | null {
  const { sources } = rules;
  for (let i = 0; i < sources.length; i++) {
    const source = sources[i];
    if (source === undefined || source.place === 'rid') continue;
    const key = headKey(source, request.head, rules, readRawListedKey) ?? bodyKey(source, request.bodyKeys, rules);
    if (key !== null) return key;
  }
  return null;
}

/** The key under which a request counts as in flight, the same under every policy (sticky-sessions 2.6). */
export function loadKeyOf(request: RoutingRequest, rules: KeyRules): string | null {
  return keyOf(request, rules, readListedKey, null);
}

/** The key that places a request on the ring: a routing key, else an implicit one (sticky-sessions 3.14). */
export function ringKeyOf(request: RoutingRequest, rules: KeyRules): string | null {
  return keyOf(request, rules, readRingKey, null) ?? implicitKey(request.head, rules.implicitHeaders);
}
