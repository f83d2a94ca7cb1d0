import type { PickAnswer } from '../../picker/answer.ts';
import { CARRIER_HEADERS, CONTROL_HEADERS, DESTINATION_KEY, PREFILLER_HEADER } from '../names.ts';
import type { HeadView } from './head-view.ts';
import { isSafeHeaderValue } from './header-safety.ts';
import type { PickObserver } from './pick-observer.ts';

export interface HeaderChange {
  readonly name: string;
  readonly value: string;
}

/** Removal comes first, so a name in both ends up set (envoy 5.1). */
export interface HeaderChanges {
  readonly remove: readonly string[];
  readonly set: readonly HeaderChange[];
}

/** Headers that never reach a worker as the client sent them (decisions 15), besides `x-gateway-destination-endpoint*`. */
export function controlHeaders(destinationHeader: string): ReadonlySet<string> {
  const names = new Set<string>([...CONTROL_HEADERS, ...CARRIER_HEADERS]);
  if (destinationHeader !== '') names.add(destinationHeader);
  return names;
}

const NO_CHANGES: HeaderChanges = { remove: [], set: [] };

/**
 * Removal of the control headers that a request carries, and of all that name endpoints (endpoint-picker-protocol P8); null
 * when it carries none, which is the rule.
 */
export function removals(head: Pick<HeadView, 'present'>, control: ReadonlySet<string>): HeaderChanges | null {
  const remove = head.present(control, DESTINATION_KEY);
  return remove.length === 0 ? null : { remove, set: NO_CHANGES.set };
}

/** The changes with one more header set. */
export function withHeader(changes: HeaderChanges | null, header: HeaderChange): HeaderChanges {
  if (changes === null) return { remove: NO_CHANGES.remove, set: [header] };
  return { remove: changes.remove, set: [...changes.set, header] };
}

/**
 * Header changes of a pick on top of `base`; null when there is nothing to change.
 *
 * @param base {@link removals} of the request
 * @param destinationHeader name of the header copy of the destination, empty for none
 * @param bodyReplaced the client's `content-length` is wrong then; without one Envoy sends the new body chunked (envoy 5.2)
 */
export function changesOfPick(
  pick: PickAnswer,
  base: HeaderChanges | null,
  destinationHeader: string,
  bodyReplaced: boolean,
  observer: PickObserver,
): HeaderChanges | null {
  const { requestId, maxRetries, prefillHeader } = pick;
  const nothing = requestId === null && maxRetries === null && prefillHeader === null;
  if (nothing && destinationHeader === '' && !bodyReplaced) return base;
  const set: HeaderChange[] = [];
  if (requestId !== null) add(set, 'x-request-id', requestId, observer);
  // Of a strict target the worker's own answer must reach the client: no retry elsewhere (envoy 6.6).
  if (maxRetries !== null) set.push({ name: 'x-envoy-max-retries', value: String(maxRetries) });
  if (destinationHeader !== '') add(set, destinationHeader, pick.destination, observer);
  if (prefillHeader !== null) add(set, PREFILLER_HEADER, prefillHeader, observer);
  const remove = base?.remove ?? NO_CHANGES.remove;
  if (bodyReplaced) return { remove: [...remove, 'content-length'], set };
  return set.length === 0 ? base : { remove, set };
}

function add(set: HeaderChange[], name: string, value: string, observer: PickObserver): void {
  if (isSafeHeaderValue(value)) set.push({ name, value });
  else observer.headerLeftOut(name);
}
