/** Places where a routing key may stand, in the order the operator gives (interface 3). */
import { agentKey } from '../request/agent-headers.ts';
import { bodyMembersAnd } from '../request/body-members.ts';
import { cookieValue } from '../request/cookie.ts';
import type { Endpoint } from '../request/endpoint.ts';
import { MAX_KEY_BYTES, readHint } from '../request/header-readers.ts';
import { JsonPointer } from '../request/json-pointer.ts';
import type { MemberNames } from '../request/json-scanner.ts';
import { GOES_ON, hasOpening } from '../request/prompt-text.ts';
import { queryValue } from '../request/query-parameter.ts';
import type { RequestHead } from '../request/request-head.ts';
import { plainKeyOf } from '../request/routing-key.ts';
import type { KeyPlace } from './decision.ts';

/** Orders of SMG's two sources, by name (`--routing-key-order`). */
export const KEY_ORDERS = ['rid-first', 'header-first', 'header-only'] as const;
export type KeyOrder = (typeof KEY_ORDERS)[number];

/** What each order stands for (decisions 39). */
export const SOURCES_OF_ORDER: Readonly<Record<KeyOrder, readonly string[]>> = {
  'rid-first': ['rid', 'headers'],
  'header-first': ['headers', 'rid'],
  'header-only': ['headers'],
};

/** One source. Fields that a place does not need are empty. */
export interface KeySource {
  readonly place: KeyPlace;
  /** As the operator wrote it; tells two sources apart when rules are compared. */
  readonly text: string;
  /** Of the cookie or the query parameter. */
  readonly name: Buffer;
  readonly pointer: JsonPointer | null;
}

/** What is allowed, in words. */
export const KEY_SOURCE_FORM = 'rid, headers, agents, opening, cookie:NAME, query:NAME or body:/json/pointer';

const NO_NAME = Buffer.alloc(0);
const WORDS: ReadonlyMap<string, KeyPlace> = new Map([
  ['rid', 'rid'],
  ['headers', 'header'],
  ['agents', 'agents'],
  ['opening', 'opening'],
]);
/** RFC 6265 4.1.1 */
const COOKIE_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Null for text that is no source. */
export function parseKeySource(text: string): KeySource | null {
  const place = WORDS.get(text);
  if (place !== undefined) return { place, text, name: NO_NAME, pointer: null };
  const colon = text.indexOf(':');
  const value = text.slice(colon + 1);
  switch (text.slice(0, Math.max(colon, 0))) {
    case 'cookie':
      return COOKIE_NAME.test(value) ? { place: 'cookie', text, name: Buffer.from(value), pointer: null } : null;
    case 'query':
      return value === '' ? null : { place: 'query', text, name: Buffer.from(value), pointer: null };
    case 'body': {
      const pointer = JsonPointer.parse(value);
      return pointer === null ? null : { place: 'body', text, name: NO_NAME, pointer };
    }
    default:
      return null;
  }
}

/** Text that is no source is left out: the settings refuse it. */
export function keySources(texts: readonly string[]): readonly KeySource[] {
  return texts.flatMap((text) => parseKeySource(text) ?? []);
}

/** The members that a body must be scanned for. */
export function bodyMembersFor(sources: readonly KeySource[]): MemberNames {
  const opening = sources.some(({ place }) => place === 'opening') ? GOES_ON : [];
  return bodyMembersAnd([...sources.flatMap(({ pointer }) => pointer?.root ?? []), ...opening]);
}

/** Whether the body of a request to that endpoint may hold this key. Hot path. */
export function mayBeInBody({ place }: KeySource, endpoint: Endpoint, override: boolean): boolean {
  if (!endpoint.isJson) return false;
  if (place === 'rid') return override && endpoint.rid !== 'none';
  return place === 'body' || (place === 'opening' && hasOpening(endpoint.kind));
}

/** The raw key of a source that is a part of the head and no header of SMG; null when there is none. Hot path. */
export function furtherHeadKey({ place, name }: KeySource, head: RequestHead): string | null {
  if (place === 'agents') return agentKey(head);
  if (place === 'cookie') {
    const header = head.first('cookie');
    const value = header === undefined ? undefined : cookieValue(header, name);
    return value === undefined ? null : readHint(value);
  }
  if (place !== 'query') return null;
  const value = queryValue(head.path, name, MAX_KEY_BYTES);
  const text = value === undefined ? null : readHint(value);
  return text === null ? null : plainKeyOf(text);
}
