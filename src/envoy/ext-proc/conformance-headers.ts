/** Headers of `--test-endpoint-selection`, by which the gateways' conformance suite sees what happened (endpoint-picker-protocol 9). */
import { type HeaderChanges, withHeader } from '../pick/header-changes.ts';

/** Response header that names the endpoint which served. */
export const SERVED_HEADER = 'x-conformance-test-served-endpoint';
/** Request header that makes the suite's workers put a header on their answers. */
const ECHO_HEADER = 'x-echo-set-header';

/** Lets the worker name the endpoint that was picked, in case that Envoy tells nothing of the response. */
export function askingForEcho(changes: HeaderChanges | null, destination: string): HeaderChanges {
  const comma = destination.indexOf(',');
  const first = comma < 0 ? destination : destination.slice(0, comma);
  return withHeader(changes, { name: ECHO_HEADER, value: `${SERVED_HEADER}:${first}` });
}
