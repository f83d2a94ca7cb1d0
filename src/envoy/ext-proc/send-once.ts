/**
 * The choice between the routes of our own configuration, with retries and without. Where a retry is possible, Envoy gives
 * the worker a body twice that passed through us, when trailers follow it (tried with 1.40, envoy I25 and I26).
 */
import { SEND_ONCE_HEADER } from '../names.ts';
import type { HeadView } from '../pick/head-view.ts';
import { type HeaderChange, type HeaderChanges, withHeader } from '../pick/header-changes.ts';
import type { Fields } from '../wire/fields.ts';

export type RouteChoice = 'once' | 'again';

const ONCE: HeaderChange = { name: SEND_ONCE_HEADER, value: '1' };
const AGAIN: HeaderChanges = { remove: [SEND_ONCE_HEADER], set: [] };

/** Whether trailers may follow the body: not where HTTP/1 declares its length. */
export function mayEndWithTrailers(head: HeadView, attributes: Fields | null): boolean {
  if (head.endOfStream) return false;
  const protocol = attributes?.['request.protocol'];
  return head.text('content-length') === undefined || (typeof protocol === 'string' && !protocol.startsWith('HTTP/1'));
}

/** The changes with the header that chooses the route. The answer has to clear the route as well. */
export function choosing(choice: RouteChoice, changes: HeaderChanges | null): HeaderChanges {
  if (choice === 'once') return withHeader(changes, ONCE);
  return changes === null ? AGAIN : { remove: [...changes.remove, SEND_ONCE_HEADER], set: changes.set };
}
