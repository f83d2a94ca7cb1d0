import { available, later } from '../setting.ts';
import { bool, choice, int, list, optional, real, U32 } from '../setting-types.ts';
import { headerName, ownHeader } from '../text-types.ts';

const ENVOY = { group: 'Retries and Envoy', reload: 'envoy' } as const;
const REQUESTS = { group: 'Requests', reload: 'live' } as const;

/** What Envoy is told, and how requests and refusals look (decisions 11, 12, 13, 21, 31). */
export const REQUEST_SETTINGS = {
  fallbacks: available({
    type: int({ max: 100 }),
    default: 2,
    help: 'workers after the first in the destination list, for retries; 0: one destination',
    group: 'Retries and Envoy',
    reload: 'live',
  }),
  retryMaxRetries: available({
    type: int({ min: 1, max: U32 }),
    default: 5,
    help: 'attempts for one request, the first included',
    ...ENVOY,
  }),
  retryInitialBackoffMs: available({
    type: int({ min: 1, max: U32, unit: 'ms' }),
    default: 50,
    help: 'pause before the first retry, in milliseconds',
    ...ENVOY,
  }),
  retryMaxBackoffMs: available({
    type: int({ min: 1, max: U32, unit: 'ms' }),
    default: 30_000,
    help: 'longest pause before a retry, in milliseconds',
    ...ENVOY,
  }),
  retryBackoffMultiplier: available({
    type: real({ min: 1 }),
    default: 1.5,
    help: 'accepted; Envoy always doubles the pause',
    ...ENVOY,
  }),
  retryJitterFactor: available({
    type: real({ min: 0, max: 1 }),
    default: 0.2,
    help: 'accepted; Envoy always uses full jitter',
    ...ENVOY,
  }),
  disableRetries: available({
    type: bool(),
    default: false,
    help: 'retry only what could not connect',
    ...ENVOY,
  }),
  retryOnReset: available({
    type: bool(),
    default: true,
    help: 'retry what was cut before its first byte; off: only what never reached a worker',
    ...ENVOY,
  }),
  requestTimeoutSecs: available({
    type: int({ min: 1, max: U32, unit: 'secs' }),
    default: 1800,
    help: 'longest life of a request, in seconds; becomes the route timeout when given',
    group: 'Retries and Envoy',
    reload: 'restart',
  }),
  envoyBodyLimit: available({
    type: int({ min: 1, max: 1_073_741_824, unit: 'bytes' }),
    default: 16_777_216,
    help: 'bytes of a request body that Envoy keeps for us and for retries',
    group: 'Retries and Envoy',
    reload: 'restart',
  }),
  destinationHeader: available({
    type: ownHeader(),
    default: 'auto',
    help: 'header that repeats the destination; auto: where a gateway reads headers',
    group: 'Retries and Envoy',
    reload: 'restart',
  }),
  routedWorkerId: available({
    type: choice(['url', 'name', 'hash', 'off']),
    default: 'url' as 'url' | 'name' | 'hash' | 'off',
    help: 'value of x-smg-routed-worker-id on responses',
    group: 'Retries and Envoy',
    reload: 'restart',
  }),

  maxPayloadSize: available({
    type: int({ min: 1, unit: 'bytes' }),
    default: 67_108_864,
    help: 'largest request body in bytes; a larger one is refused with 413',
    ...REQUESTS,
    // The service's own receive limits follow from it.
    reload: 'restart',
  }),
  maxBufferedRequestBytes: available({
    type: int({ unit: 'bytes' }),
    default: 1_048_576,
    help: 'accepted for SMG; no body is read only for retries, since Envoy keeps it (--envoy-body-limit)',
    ...REQUESTS,
  }),
  requestIdHeaders: available({
    type: list(headerName()),
    default: ['x-request-id', 'x-correlation-id', 'x-trace-id', 'request-id'],
    help: 'headers that may hold the request id, first readable one wins',
    ...REQUESTS,
  }),
  errorStyle: available({
    type: optional(choice(['smg', 'epp'])),
    default: null,
    help: 'statuses of refusals; unset: epp on full-duplex streams, else smg',
    ...REQUESTS,
  }),
  decisionHeader: available({
    type: bool(),
    default: false,
    help: 'tell on each response how its worker was chosen',
    ...REQUESTS,
    // Envoy is the one that puts it on the response.
    reload: 'envoy',
  }),
  strictForwardAllowlist: later({
    type: bool(),
    default: false,
    help: 'pass only the headers to workers that SMG passes',
    ...REQUESTS,
  }),
  testEndpointSelection: available({
    type: bool(),
    default: false,
    help: 'obey the endpoint header of the gateways’ conformance tests; anybody can then choose a worker',
    ...REQUESTS,
    reload: 'restart',
  }),
} as const;
