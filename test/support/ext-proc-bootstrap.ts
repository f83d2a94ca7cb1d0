/** What a test decides about the Envoy before its service. */
export interface ExtProcEnvoy {
  readonly listenPort: number;
  readonly adminPort: number;
  readonly pickerPort: number;
  readonly workerPorts: readonly number[];
  /** `ProcessingMode` as Envoy writes it. */
  readonly mode: Readonly<Record<string, string>>;
  /** Metadata of every call, such as the mark of our own configurations. */
  readonly metadata?: Readonly<Record<string, string>>;
}

/** Smallest bootstrap that picks by override_host, with the graceful guard (envoy 2.1, 3.2). YAML, since JSON is YAML. */
export function extProcBootstrap(envoy: ExtProcEnvoy): string {
  const { listenPort: listen, adminPort: admin, pickerPort: picker, workerPorts: workers, mode, metadata = {} } = envoy;
  const duplex = Object.values(mode).includes('FULL_DUPLEX_STREAMED');
  const at = (port: number) => ({ socket_address: { address: '127.0.0.1', port_value: port } });
  const endpoints = (ports: readonly number[]) => [
    { lb_endpoints: ports.map((port) => ({ endpoint: { address: at(port) } })) },
  ];
  const type = (name: string) => `type.googleapis.com/envoy.${name}`;
  // All fields are written out: an unset mode matches no written one (envoy 4.2).
  const base = {
    request_header_mode: 'SEND',
    response_header_mode: 'SKIP',
    request_body_mode: 'NONE',
    response_body_mode: 'NONE',
    request_trailer_mode: 'SKIP',
    response_trailer_mode: 'SKIP',
    ...mode,
  };
  const override = { ...base, request_body_mode: 'BUFFERED_PARTIAL', response_body_mode: 'NONE' };
  const extProc = {
    '@type': type('extensions.filters.http.ext_proc.v3.ExternalProcessor'),
    stat_prefix: 'picker',
    grpc_service: {
      envoy_grpc: { cluster_name: 'picker' },
      initial_metadata: Object.entries(metadata).map(([key, value]) => ({ key, value })),
    },
    failure_mode_allow: true,
    message_timeout: '5s',
    ...(duplex ? {} : { allow_mode_override: true, allowed_override_modes: [override] }),
    processing_mode: base,
    mutation_rules: { allow_envoy: true },
    response_attributes: ['upstream.address', 'response.code_details'],
    metadata_options: { receiving_namespaces: { untyped: ['envoy.lb', 'picker'] } },
  };
  const leastRequest = {
    name: 'envoy.load_balancing_policies.least_request',
    typed_config: { '@type': type('extensions.load_balancing_policies.least_request.v3.LeastRequest') },
  };
  const many = { max_connections: 1e6, max_pending_requests: 1e6, max_requests: 1e6, max_retries: 1000 };
  const listener = {
    '@type': type('extensions.filters.network.http_connection_manager.v3.HttpConnectionManager'),
    stat_prefix: 'edge',
    http_filters: [
      { name: 'envoy.filters.http.ext_proc', typed_config: extProc },
      {
        name: 'envoy.filters.http.router',
        typed_config: { '@type': type('extensions.filters.http.router.v3.Router') },
      },
    ],
    route_config: {
      virtual_hosts: [
        {
          name: 'all',
          domains: ['*'],
          routes: [{ match: { prefix: '/' }, route: { cluster: 'workers', timeout: '0s' } }],
        },
      ],
    },
  };
  const config = {
    admin: { address: at(admin) },
    layered_runtime: {
      layers: [{ name: 'static', static_layer: { 'envoy.reloadable_features.ext_proc_graceful_grpc_close': true } }],
    },
    static_resources: {
      listeners: [
        {
          name: 'edge',
          address: at(listen),
          filter_chains: [
            { filters: [{ name: 'envoy.filters.network.http_connection_manager', typed_config: listener }] },
          ],
        },
      ],
      clusters: [
        {
          name: 'workers',
          type: 'STATIC',
          circuit_breakers: { thresholds: [many] },
          typed_extension_protocol_options: {
            'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': {
              '@type': type('extensions.upstreams.http.v3.HttpProtocolOptions'),
              // Below the 5 s of Node's HTTP server, as generated: else a request can meet a closing connection (envoy T77).
              common_http_protocol_options: { idle_timeout: '4s' },
              explicit_http_config: { http_protocol_options: {} },
            },
          },
          load_balancing_policy: {
            policies: [
              {
                typed_extension_config: {
                  name: 'envoy.load_balancing_policies.override_host',
                  typed_config: {
                    '@type': type('extensions.load_balancing_policies.override_host.v3.OverrideHost'),
                    override_host_sources: [
                      { metadata: { key: 'envoy.lb', path: [{ key: 'x-gateway-destination-endpoint' }] } },
                    ],
                    fallback_policy: { policies: [{ typed_extension_config: leastRequest }] },
                  },
                },
              },
            ],
          },
          load_assignment: { cluster_name: 'workers', endpoints: endpoints(workers) },
        },
        {
          name: 'picker',
          type: 'STATIC',
          circuit_breakers: { thresholds: [many] },
          typed_extension_protocol_options: {
            'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': {
              '@type': type('extensions.upstreams.http.v3.HttpProtocolOptions'),
              explicit_http_config: { http2_protocol_options: {} },
            },
          },
          load_assignment: { cluster_name: 'picker', endpoints: endpoints([picker]) },
        },
      ],
    },
  };
  return JSON.stringify(config);
}
