import { SEND_ONCE_HEADER } from '../names.ts';
import type { HeaderChange, HeaderChanges } from '../pick/header-changes.ts';

const ONCE: HeaderChange = { name: SEND_ONCE_HEADER, value: '1' };

/**
 * Takes our configuration's route without retries, if the answer also clears the route. Where a retry is possible, Envoy
 * gives the worker a body twice that passed through us when trailers follow it (tried with 1.40, envoy I25 and I26).
 */
export function sendingOnce(changes: HeaderChanges | null): HeaderChanges {
  return { remove: changes?.remove ?? [], set: [...(changes?.set ?? []), ONCE] };
}
