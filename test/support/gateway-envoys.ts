import { applyEnvoyFilter, type PatchedBootstrap } from './envoy-filter.ts';

/** Where the Envoy of a gateway finds what it needs. */
export interface GatewayEnvoy {
  readonly listenPort: number;
  readonly adminPort: number;
  readonly pickerPort: number;
  readonly workerPorts: readonly number[];
}

export const WORKERS = 'outbound|8000||vllm.models.svc.cluster.local';
export const PICKER = 'outbound|9002||smg-envoy.smg-envoy.svc.cluster.local';

const type = (name: string): string => `type.googleapis.com/envoy.${name}`;
const at = (port: number) => ({ socket_address: { address: '127.0.0.1', port_value: port } });
const extension = (name: string, full: string, fields: object = {}) => ({
  name,
  typed_config: { '@type': type(full), ...fields },
});
const ROUTER = extension('envoy.filters.http.router', 'extensions.filters.http.router.v3.Router');
const MAX = 4_294_967_295;
const UNLIMITED = {
  thresholds: [{ max_connections: MAX, max_pending_requests: MAX, max_requests: MAX, max_retries: MAX }],
};
const NO_LIMITS = { circuit_breakers: UNLIMITED };

function protocol(fields: object) {
  const name = 'extensions.upstreams.http.v3.HttpProtocolOptions';
  return { typed_extension_protocol_options: { [`envoy.${name}`]: { '@type': type(name), ...fields } } };
}
const HTTP1 = protocol({ explicit_http_config: { http_protocol_options: {} } });
const HTTP2 = protocol({ explicit_http_config: { http2_protocol_options: {} } });

function cluster(name: string, ports: readonly number[], fields: object) {
  const endpoints = [{ lb_endpoints: ports.map((port) => ({ endpoint: { address: at(port) } })) }];
  // The discovery service of the gateway is the test.
  return { name, type: 'STATIC', load_assignment: { cluster_name: name, endpoints }, ...fields };
}

function overrideHost(fields: object, fallback: string) {
  const lb = (name: string, full: string, more: object = {}) => ({
    policies: [
      {
        typed_extension_config: extension(
          `envoy.load_balancing_policies.${name}`,
          `extensions.load_balancing_policies.${full}`,
          more,
        ),
      },
    ],
  });
  const full = fallback === 'round_robin' ? 'round_robin.v3.RoundRobin' : 'least_request.v3.LeastRequest';
  return lb('override_host', 'override_host.v3.OverrideHost', { ...fields, fallback_policy: lb(fallback, full) });
}

function bootstrap(envoy: GatewayEnvoy, listener: object, manager: object, clusters: readonly object[]) {
  const name = 'envoy.filters.network.http_connection_manager';
  const full = 'extensions.filters.network.http_connection_manager.v3.HttpConnectionManager';
  return {
    admin: { address: at(envoy.adminPort) },
    static_resources: {
      listeners: [
        {
          name: 'gateway',
          address: at(envoy.listenPort),
          ...listener,
          filter_chains: [{ filters: [extension(name, full, { stat_prefix: 'gateway', ...manager })] }],
        },
      ],
      clusters,
    },
  };
}

/**
 * What istiod 1.31 makes of a Gateway, a VirtualService and two Services, with an EnvoyFilter applied. Path `/v1` is routed
 * by the route `smg-envoy`, `/other` to the same workers by a route of another name, `/dead` to nobody.
 */
export function istioBootstrap(envoy: GatewayEnvoy, filter: Record<string, unknown>): string {
  const other = 'outbound|80||other.apps.svc.cluster.local';
  const dead = 'outbound|80||dead.apps.svc.cluster.local';
  const istiod = { ...NO_LIMITS, connect_timeout: '10s', lb_policy: 'LEAST_REQUEST', common_lb_config: {} };
  const retries = {
    retry_on: 'connect-failure,refused-stream,unavailable,cancelled,503',
    num_retries: 2,
    retry_host_predicate: [
      extension(
        'envoy.retry_host_predicates.previous_hosts',
        'extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate',
      ),
    ],
    host_selection_retry_max_attempts: 5,
  };
  const route = (name: string, prefix: string, to: string) => ({
    name,
    match: { prefix },
    route: { cluster: to, timeout: '0s', retry_policy: structuredClone(retries), max_grpc_timeout: '0s' },
  });
  const made = bootstrap(
    envoy,
    {},
    {
      use_remote_address: true,
      stream_idle_timeout: '0s',
      proxy_100_continue: true,
      normalize_path: true,
      forward_client_cert_details: 'SANITIZE_SET',
      set_current_client_cert_details: { subject: true, cert: true, dns: true, uri: true },
      upgrade_configs: [{ upgrade_type: 'websocket' }],
      http_filters: [ROUTER],
      route_config: {
        name: 'http.8080',
        virtual_hosts: [
          {
            name: '*:80',
            domains: ['*'],
            include_request_attempt_count: true,
            routes: [
              route('smg-envoy', '/v1/', WORKERS),
              route('other', '/other/', other),
              route('dead', '/dead/', dead),
            ],
          },
        ],
      },
    },
    [
      cluster(WORKERS, envoy.workerPorts, { ...istiod, ...HTTP1 }),
      cluster(other, envoy.workerPorts, { ...istiod, ...HTTP1 }),
      cluster(dead, [], { ...istiod, ...HTTP1 }),
      cluster(PICKER, [envoy.pickerPort], { ...istiod, ...HTTP2 }),
    ],
  );
  const copy = structuredClone(made);
  const reached = applyEnvoyFilter(copy as unknown as PatchedBootstrap, filter);
  if (reached.some((count) => count !== 1)) throw new Error(`patches reached ${reached.join(', ')} places`);
  return JSON.stringify(copy);
}

/** What Envoy Gateway 1.9 makes of our policies, as `egctl x translate` prints it; clusters are static. */
export function envoyGatewayBootstrap(envoy: GatewayEnvoy, header: string): string {
  const name = 'envoy.filters.http.ext_proc/envoyextensionpolicy/smg-envoy/smg-envoy/extproc/0';
  const picker = 'envoyextensionpolicy/smg-envoy/smg-envoy/extproc/0';
  const workers = 'httproute/smg-envoy/smg-envoy/rule/0';
  const picked = "metadata.filter_metadata['picker']['pick_id'] != ''";
  const windows = { initial_connection_window_size: 1_048_576, initial_stream_window_size: 65_536 };
  const http2 = protocol({ explicit_http_config: { http2_protocol_options: windows } });
  const accessLog = {
    ...extension('envoy.access_loggers.http_grpc', 'extensions.access_loggers.grpc.v3.HttpGrpcAccessLogConfig', {
      common_config: {
        grpc_service: { envoy_grpc: { cluster_name: 'accesslog_als_0_0' } },
        log_name: 'smg-envoy',
        transport_api_version: 'V3',
      },
    }),
    filter: {
      extension_filter: extension(
        'envoy.access_loggers.extension_filters.cel',
        'extensions.access_loggers.filters.cel.v3.ExpressionFilter',
        { expression: picked },
      ),
    },
  };
  const extProc = {
    ...extension(name, 'extensions.filters.http.ext_proc.v3.ExternalProcessor', {
      allow_mode_override: true,
      failure_mode_allow: true,
      grpc_service: {
        envoy_grpc: { authority: 'smg-envoy.smg-envoy:9002', cluster_name: picker },
        retry_policy: {
          num_retries: 3,
          retry_back_off: { base_interval: '0.005s', max_interval: '10s' },
          retry_on: 'connect-failure,refused-stream,reset,unavailable',
        },
        timeout: '10s',
      },
      message_timeout: '5s',
      metadata_options: { receiving_namespaces: { untyped: ['envoy.lb', 'picker'] } },
      processing_mode: {
        request_header_mode: 'SEND',
        request_trailer_mode: 'SKIP',
        response_header_mode: 'SEND',
        response_trailer_mode: 'SKIP',
      },
      response_attributes: ['upstream.address', 'response.code_details'],
    }),
    disabled: true,
  };
  const retry = {
    host_selection_retry_max_attempts: 5,
    num_retries: 4,
    retriable_status_codes: [408, 429, 500, 502, 503, 504],
    retry_back_off: { base_interval: '0.050s', max_interval: '30s' },
    retry_host_predicate: [
      extension(
        'envoy.retry_host_predicates.previous_hosts',
        'extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate',
      ),
    ],
    retry_on: 'connect-failure,refused-stream,reset,retriable-status-codes',
  };
  return JSON.stringify(
    bootstrap(
      envoy,
      { per_connection_buffer_limit_bytes: 16_777_216 },
      {
        access_log: [accessLog],
        common_http_protocol_options: { headers_with_underscores_action: 'REJECT_REQUEST' },
        early_header_mutation_extensions: [
          extension(
            'envoy.http.early_header_mutation.header_mutation',
            'extensions.http.early_header_mutation.header_mutation.v3.HeaderMutation',
            { mutations: [{ remove: header }] },
          ),
        ],
        http2_protocol_options: { ...windows, max_concurrent_streams: 100 },
        http_filters: [
          extProc,
          extension('envoy.filters.http.router', 'extensions.filters.http.router.v3.Router', {
            suppress_envoy_headers: true,
          }),
        ],
        merge_slashes: true,
        normalize_path: true,
        stream_idle_timeout: '900s',
        use_remote_address: true,
        route_config: {
          name: 'smg-envoy/gateway/http',
          virtual_hosts: [
            {
              name: 'smg-envoy/gateway/http/*',
              domains: ['*'],
              routes: [
                {
                  name: 'httproute/smg-envoy/smg-envoy/rule/0/match/0/*',
                  match: { path_separated_prefix: '/v1' },
                  request_headers_to_remove: ['x-smg-target-worker', 'x-smg-routing-tokens'],
                  route: { cluster: workers, idle_timeout: '900s', retry_policy: retry, timeout: '0s' },
                  typed_per_filter_config: { [name]: { '@type': type('config.route.v3.FilterConfig'), config: {} } },
                },
              ],
            },
          ],
        },
      },
      [
        cluster(workers, envoy.workerPorts, {
          ...NO_LIMITS,
          ...protocol({
            common_http_protocol_options: { idle_timeout: '4s' },
            explicit_http_config: { http_protocol_options: {} },
          }),
          connect_timeout: '1s',
          per_connection_buffer_limit_bytes: 32_768,
          load_balancing_policy: overrideHost({ override_host_sources: [{ header }] }, 'least_request'),
        }),
        cluster(picker, [envoy.pickerPort], { ...NO_LIMITS, ...http2, connect_timeout: '0.25s' }),
        cluster('accesslog_als_0_0', [envoy.pickerPort], { ...http2 }),
      ],
    ),
  );
}

/** What istiod 1.31 makes of a route to an InferencePool: the listener's filter, and what the route says instead. */
export function inferencePoolBootstrap(envoy: GatewayEnvoy): string {
  const key = (name: string) => ({ key: 'envoy.lb', path: [{ key: name }] });
  const filter = 'envoy.filters.http.ext_proc';
  const both = { untyped: ['envoy.lb'] };
  const everything = {
    request_header_mode: 'SEND',
    request_body_mode: 'FULL_DUPLEX_STREAMED',
    request_trailer_mode: 'SEND',
    response_header_mode: 'SEND',
    response_body_mode: 'FULL_DUPLEX_STREAMED',
    response_trailer_mode: 'SEND',
  };
  const listener = extension(filter, 'extensions.filters.http.ext_proc.v3.ExternalProcessor', {
    grpc_service: { envoy_grpc: { cluster_name: 'dummy' }, timeout: '10s' },
    failure_mode_allow: true,
    processing_mode: { request_header_mode: 'SKIP', response_header_mode: 'SKIP' },
    message_timeout: '1000s',
    metadata_options: { receiving_namespaces: both, forwarding_namespaces: both },
  });
  const perRoute = {
    '@type': type('extensions.filters.http.ext_proc.v3.ExtProcPerRoute'),
    overrides: {
      failure_mode_allow: false,
      grpc_service: { envoy_grpc: { cluster_name: PICKER, authority: 'picker' } },
      processing_mode: everything,
    },
  };
  return JSON.stringify(
    bootstrap(
      envoy,
      { per_connection_buffer_limit_bytes: 32_768 },
      {
        http_filters: [listener, ROUTER],
        route_config: {
          virtual_hosts: [
            {
              name: 'pool',
              domains: ['*'],
              routes: [
                {
                  match: { prefix: '/' },
                  route: { cluster: WORKERS, timeout: '0s' },
                  typed_per_filter_config: { [filter]: perRoute },
                },
              ],
            },
          ],
        },
      },
      [
        cluster(WORKERS, envoy.workerPorts, {
          ...NO_LIMITS,
          ...HTTP1,
          lb_policy: 'CLUSTER_PROVIDED',
          load_balancing_policy: overrideHost(
            {
              override_host_sources: [{ metadata: key('x-gateway-destination-endpoint') }],
              selected_host_key: key('x-gateway-destination-endpoint-served'),
            },
            'round_robin',
          ),
        }),
        cluster(PICKER, [envoy.pickerPort], { ...NO_LIMITS, ...HTTP2 }),
      ],
    ),
  );
}
