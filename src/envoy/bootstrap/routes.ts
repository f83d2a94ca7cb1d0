import {
  CARRIER_HEADERS,
  CONTROL_HEADERS,
  DECISION_HEADER,
  DECISION_KEY,
  DESTINATION_KEY,
  GRPC_WORKER_CLUSTER,
  PREFILL_WORKER_CLUSTER,
  SEND_ONCE_HEADER,
  STRICT_HEADER,
  WORKER_CLUSTER,
} from '../names.ts';
import { withoutBody } from './ext-authz-filter.ts';
import type { BootstrapMode, BootstrapOptions, RetryOptions } from './options.ts';
import { pickNamespace } from './pick-namespace.ts';
import { PREVIOUS_HOSTS } from './picker-call.ts';
import type { Config } from './typed.ts';

/** Statuses of a worker that send a request to the next one, SMG's list (decisions 31). */
export const RETRIED_STATUSES = [408, 429, 500, 502, 503, 504];

/** Longest silence on a connection: a long prefill sends nothing for minutes. */
export const IDLE_TIMEOUT = '900s';

/** Request headers that name a worker, or say how the request is sent to it: no client's copy gets past the listener. */
export function carrierHeaders(options: BootstrapOptions): readonly string[] {
  const { destinationHeader } = options;
  const names: string[] = [...CARRIER_HEADERS];
  if (destinationHeader !== null && !names.includes(destinationHeader)) names.push(destinationHeader);
  names.push(options.mode === 'ext-authz' ? STRICT_HEADER : SEND_ONCE_HEADER);
  return names;
}

/** Every path goes to a worker. */
export function routeConfig(options: BootstrapOptions): Config {
  return {
    name: 'edge',
    virtual_hosts: [
      {
        name: 'all',
        domains: ['*'],
        '# request_body_buffer_limit': [
          'What the service sees of a body at most, and what Envoy can send again: a larger body is not retried.',
          'Memory is taken only by bodies that are read or may be retried.',
        ].join('\n'),
        request_body_buffer_limit: options.bodyLimitBytes,
        '# request_headers_to_remove': 'workers never see them, also while the service is away',
        request_headers_to_remove: removedHeaders(options),
        ...decisionHeader(options.decisionHeader, options.mode),
        include_attempt_count_in_response: true,
        routes: [
          ...grpcRoute(options),
          ...onceRoute(options),
          { name: 'all', match: { prefix: '/' }, route: workerRoute(options) },
        ],
      },
    ],
  };
}

/** For bodies that Envoy would give the worker twice, if it had to keep them for a retry (envoy I25). */
function onceRoute(options: BootstrapOptions): readonly Config[] {
  if (options.mode === 'ext-authz') return [];
  return [{ '#': WHY_ONCE, name: 'once', match: ONCE_MATCH, route: withoutRetries(workerRoute(options)) }];
}

export const WHY_ONCE =
  'the service takes it where trailers may follow a body that it reads: with retries the body would come twice';
/** Requests that the service wants to be sent once. */
export const ONCE_MATCH: Config = { prefix: '/', headers: [{ name: SEND_ONCE_HEADER, present_match: true }] };

export function withoutRetries({ retry_policy: _, ...action }: Config): Config {
  return action;
}

function workerRoute(options: BootstrapOptions): Config {
  return { cluster: WORKER_CLUSTER, ...mirror(options), ...routeAction(options) };
}

function mirror({ mirrorsPrefills }: BootstrapOptions): Config {
  if (!mirrorsPrefills) return {};
  return {
    '# request_mirror_policies': 'of each request that the service gives a prefill worker, and of no other',
    request_mirror_policies: [{ cluster: PREFILL_WORKER_CLUSTER, disable_shadow_host_suffix_append: true }],
  };
}

/** gRPC requests go to gRPC workers where there may be some. The service splits them by the same header. */
function grpcRoute(options: BootstrapOptions): readonly Config[] {
  const { upstream, mode, authzBody } = options;
  const waits = mode === 'ext-authz' && authzBody;
  if (!upstream.grpc && !waits) return [];
  const cluster = upstream.grpc ? GRPC_WORKER_CLUSTER : WORKER_CLUSTER;
  const route = { name: 'grpc', match: { prefix: '/', grpc: {} }, route: { cluster, ...routeAction(options) } };
  if (!waits) return [route];
  return [
    {
      ...route,
      '# typed_per_filter_config': 'the body of a gRPC stream may never end: nobody waits for it',
      typed_per_filter_config: withoutBody(),
    },
  ];
}

/** Request headers that no worker sees, where metadata carries the destination (envoy 6.4). */
export function removedHeaders({ destinationHeader }: BootstrapOptions): readonly string[] {
  const copies = destinationHeader === null ? [] : [destinationHeader];
  return [...new Set([...CONTROL_HEADERS, DESTINATION_KEY, ...copies])];
}

/** How long a request to a worker may take, and how it is repeated. */
export function routeAction(options: BootstrapOptions): Config {
  const { requestTimeoutSecs } = options;
  return {
    ...(requestTimeoutSecs === null ? { '# timeout': "Envoy's 15 s would cut generations" } : {}),
    timeout: `${requestTimeoutSecs ?? 0}s`,
    idle_timeout: IDLE_TIMEOUT,
    retry_policy: retryPolicy(options.retry),
  };
}

function retryPolicy(retry: RetryOptions): Config {
  const base = Math.max(1, retry.initialBackoffMs);
  const statuses = retry.connectFailureOnly ? {} : { retriable_status_codes: RETRIED_STATUSES };
  return {
    '# retry_on': "each attempt takes the next worker of the service's list",
    retry_on: retryOn(retry),
    ...statuses,
    num_retries: Math.max(0, retry.attempts - 1),
    retry_back_off: { base_interval: seconds(base), max_interval: seconds(Math.max(base, retry.maxBackoffMs)) },
    retry_host_predicate: [PREVIOUS_HOSTS],
    '# host_selection_retry_max_attempts': 'after the list: enough draws to find a worker that did not fail yet',
    host_selection_retry_max_attempts: 50,
  };
}

function retryOn(retry: RetryOptions): string {
  if (retry.connectFailureOnly) return 'connect-failure';
  const reset = retry.onReset ? 'reset' : 'reset-before-request';
  return `connect-failure,refused-stream,${reset},retriable-status-codes`;
}

/** A protobuf duration. */
function seconds(ms: number): string {
  return `${ms / 1000}s`;
}

/** Shows the decision to the client, where that is wanted. Members of a route or a virtual host. */
export function decisionHeader(on: boolean, mode: BootstrapMode = 'ext-proc'): Config {
  if (!on) return {};
  const value = `%DYNAMIC_METADATA(${pickNamespace(mode)}:${DECISION_KEY})%`;
  return {
    '# response_headers_to_remove': 'a worker cannot speak for the service',
    response_headers_to_remove: [DECISION_HEADER],
    response_headers_to_add: [{ header: { key: DECISION_HEADER, value }, append_action: 'OVERWRITE_IF_EXISTS_OR_ADD' }],
  };
}
