import {
  AUTHZ_NAMESPACE,
  DESTINATION_KEY,
  DESTINATION_NAMESPACE,
  ERROR_CODE_HEADER,
  GRPC_WORKER_CLUSTER,
  LEG_KEY,
  PICKER_NAMESPACE,
  PREFILL_KEY,
  RANK_SUFFIX_KEY,
  SERVED_KEY,
  STAMP_HEADER,
  STRICT_KEY,
  TLS_KEY,
  TLS_ON,
  TRANSPORT_NAMESPACE,
  WORKER_CLUSTER,
  WORKER_ID_KEY,
  WORKER_NAMESPACE,
  WORKER_STAMP_KEY,
} from '../names.ts';
import { envoyAddress, isDnsName } from './address.ts';
import type { BootstrapOptions, StaticHealthOptions, StaticWorker } from './options.ts';
import { pickNamespace } from './pick-namespace.ts';
import { type Config, extension, httpProtocolOptions } from './typed.ts';
import { tlsMatches } from './worker-tls.ts';

/** The cluster of the workers and, where some serve gRPC alone, that of those: Envoy's HTTP version is that of a cluster. */
export function workerClusters(options: BootstrapOptions): readonly Config[] {
  const { grpc } = options.upstream;
  return grpc ? [workerCluster(options, false), workerCluster(options, true)] : [workerCluster(options, false)];
}

/** Who the workers are, how they are called, and how one of them is chosen. */
function workerCluster(options: BootstrapOptions, grpc: boolean): Config {
  const { staticWorkers, upstream } = options;
  const http2 = grpc || upstream.http2;
  return {
    ...(grpc ? { '#': 'workers that serve gRPC requests and nothing else' } : {}),
    name: grpc ? GRPC_WORKER_CLUSTER : WORKER_CLUSTER,
    connect_timeout: '1s',
    ...membership(
      grpc ? GRPC_WORKER_CLUSTER : WORKER_CLUSTER,
      staticWorkers?.filter((each) => each.grpc === grpc) ?? null,
    ),
    ...(staticWorkers === null ? {} : healthChecks(options.staticHealth, grpc, http2)),
    ...(upstream.tls === null ? {} : tlsMatches(upstream.tls, http2)),
    '# circuit_breakers': 'a fleet runs far more than 1024 requests; a retry counts until its response headers',
    circuit_breakers: circuitBreakers(),
    typed_extension_protocol_options: workerProtocol(options, STAMP_OF_ENDPOINT, http2),
    // Only the service says of endpoints which leg they do.
    load_balancing_policy: workerPolicy(options, options.disaggregated && staticWorkers === null),
  };
}

export function circuitBreakers(): Config {
  const most = 100_000;
  const thresholds = [{ max_connections: most, max_pending_requests: most, max_requests: most, max_retries: most }];
  return { thresholds };
}

/** What the service says of an endpoint (decisions 22). */
const STAMP_OF_ENDPOINT = `%UPSTREAM_METADATA(${WORKER_NAMESPACE}:${WORKER_STAMP_KEY})%`;

/** `typed_extension_protocol_options`: how workers are called. `stamp` is a format that names the one that answers. */
export function workerProtocol(options: BootstrapOptions, stamp: string, http2 = options.upstream.http2): Config {
  return httpProtocolOptions({
    ...upstreamHttp(http2),
    '# http_filters': 'run once an attempt, when the worker is known',
    http_filters: [
      stampFilter(options, stamp),
      extension('envoy.filters.http.upstream_codec', 'envoy.extensions.filters.http.upstream_codec.v3.UpstreamCodec'),
    ],
  });
}

export function upstreamHttp(http2: boolean): Config {
  return {
    '# common_http_protocol_options': [
      'Below the keep-alive time of the workers (uvicorn: 5 s), so that Envoy is the one that closes:',
      'else a request can meet a connection that is going away.',
    ].join('\n'),
    common_http_protocol_options: { idle_timeout: '4s' },
    explicit_http_config: http2 ? { http2_protocol_options: {} } : { http_protocol_options: { enable_trailers: true } },
  };
}

/**
 * `load_balancing_policy`: the workers that the service named, in its order.
 *
 * @param legs endpoints say which leg they do: Envoy alone chooses among decode workers
 */
export function workerPolicy(options: BootstrapOptions, legs = false): Config {
  return { policies: [policy('override_host', 'override_host.v3.OverrideHost', overrideHost(options, legs))] };
}

function membership(name: string, workers: readonly StaticWorker[] | null): Config {
  if (workers === null) return endpointsOfService();
  const dns = workers.some((worker) => isDnsName(worker.address));
  return {
    type: dns ? 'STRICT_DNS' : 'STATIC',
    ...(dns ? { dns_lookup_family: 'V4_PREFERRED' } : {}),
    load_assignment: {
      cluster_name: name,
      endpoints: [{ lb_endpoints: workers.map(endpoint) }],
    },
  };
}

export function endpointsOfService(): Config {
  return {
    '# type': 'the service knows the workers and their health',
    type: 'EDS',
    eds_cluster_config: { eds_config: { ads: {}, resource_api_version: 'V3', initial_fetch_timeout: '5s' } },
  };
}

/** Without the service nothing else tells Envoy which workers of the file are well. */
function healthChecks(health: StaticHealthOptions | null, grpc: boolean, http2: boolean): Config {
  if (health === null) return {};
  const http = { path: health.path, ...(http2 ? { codec_client_type: 'HTTP2' } : {}) };
  const interval = `${health.intervalSecs}s`;
  return {
    '# health_checks': 'requests that Envoy places itself go to healthy workers',
    health_checks: [
      {
        timeout: `${health.timeoutSecs}s`,
        interval,
        no_traffic_interval: interval,
        unhealthy_threshold: health.failureThreshold,
        healthy_threshold: health.successThreshold,
        ...(grpc ? { grpc_health_check: {} } : { http_health_check: http }),
      },
    ],
  };
}

function endpoint(worker: StaticWorker): Config {
  const stamp = worker.stamp === '' ? {} : { [WORKER_STAMP_KEY]: worker.stamp };
  const transport = worker.tlsName === null ? {} : { [TRANSPORT_NAMESPACE]: { [TLS_KEY]: TLS_ON } };
  return {
    endpoint: { address: envoyAddress(worker.address), ...(worker.tlsName ? { hostname: worker.tlsName } : {}) },
    metadata: { filter_metadata: { [WORKER_NAMESPACE]: { [WORKER_ID_KEY]: worker.id, ...stamp }, ...transport } },
  };
}

/** Says which worker answered; a worker cannot say it, nor set the error code, by itself (envoy 7). */
function stampFilter({ stamp, dpAware, mode }: BootstrapOptions, worker: string): Config {
  // Where the request names no rank, Envoy writes nothing for it.
  const rank = dpAware ? `%DYNAMIC_METADATA(${pickNamespace(mode)}:${RANK_SUFFIX_KEY})%` : '';
  const add = { header: { key: STAMP_HEADER, value: `${worker}${rank}` }, append_action: 'OVERWRITE_IF_EXISTS_OR_ADD' };
  return extension('stamp', 'envoy.extensions.filters.http.header_mutation.v3.HeaderMutation', {
    mutations: {
      response_mutations: [
        { remove: STAMP_HEADER },
        { remove: ERROR_CODE_HEADER },
        ...(stamp ? [{ append: add }] : []),
      ],
    },
  });
}

/** First the service's list in order, then a fallback that leaves strict targets alone (envoy 6.6, 6.7). */
function overrideHost({ envoy, mode, mirrorsPrefills }: BootstrapOptions, legs: boolean): Config {
  const authz = mode === 'ext-authz';
  const served = {
    '# selected_host_key': `not in ${DESTINATION_NAMESPACE}: a further key there would defeat the strict selector`,
    selected_host_key: { key: PICKER_NAMESPACE, path: [{ key: SERVED_KEY }] },
  };
  return {
    '# override_host_sources': 'metadata, which no client can set',
    override_host_sources: [
      { metadata: { key: authz ? AUTHZ_NAMESPACE : DESTINATION_NAMESPACE, path: [{ key: DESTINATION_KEY }] } },
    ],
    ...(envoy === '1.38' ? served : {}),
    fallback_policy: { policies: [policy('subset', 'subset.v3.Subset', strictOrAny(authz, mirrorsPrefills, legs))] },
  };
}

const DECODE_WORKERS: Config = { fallback_policy: 'DEFAULT_SUBSET', default_subset: { [LEG_KEY]: 'decode' } };

function strictOrAny(authz: boolean, mirrors: boolean, legs: boolean): Config {
  const strict = authz ? [STRICT_KEY] : [STRICT_KEY, DESTINATION_KEY];
  const keys = mirrors ? [strict, [...strict, PREFILL_KEY]] : [strict];
  return {
    '# fallback_policy': 'requests without a pick, or whose list is used up',
    ...(legs ? DECODE_WORKERS : { fallback_policy: 'ANY_ENDPOINT' }),
    '# subset_selectors': 'a strict target: no endpoint has these keys, so nobody else serves it',
    subset_selectors: keys.map((each) => ({ keys: each, fallback_policy: 'NO_FALLBACK' })),
    subset_lb_policy: { policies: [policy('least_request', 'least_request.v3.LeastRequest')] },
  };
}

export function policy(name: string, type: string, fields: Config = {}): Config {
  const full = `envoy.extensions.load_balancing_policies.${type}`;
  return { typed_extension_config: extension(`envoy.load_balancing_policies.${name}`, full, fields) };
}
