import { parse, stringify } from 'yaml';

/**
 * Our full-duplex configuration as a gateway of the Endpoint Picker Protocol has it that is not ours: no mark and no access
 * log towards the service, the served endpoint under the protocol's own name, retries of its own, and a filter that says
 * which endpoints a request may use.
 *
 * Request header `x-subset` becomes the hint. Answers carry in `x-metadata` the pick as Envoy holds it, and workers see the
 * header copy of it.
 */
export function protocolGateway(yaml: string): string {
  const config = parse(yaml);
  const manager = config.static_resources.listeners[0].filter_chains[0].filters[0].typed_config;
  const [extProc, router] = manager.http_filters;
  delete extProc.typed_config.grpc_service.initial_metadata;
  delete manager.access_log;
  delete manager.access_log_options;
  delete router.typed_config.upstream_log;
  manager.http_filters.unshift(SUBSET_FROM_HEADER);

  const host = manager.route_config.virtual_hosts[0];
  delete host.request_headers_to_remove;
  host.response_headers_to_add = [
    { header: { key: 'x-metadata', value: '%DYNAMIC_METADATA(envoy.lb:x-gateway-destination-endpoint)%' } },
  ];
  host.routes.at(-1).route.retry_policy = {
    retry_on: 'connect-failure,reset,retriable-status-codes',
    retriable_status_codes: [503],
    num_retries: 2,
  };
  for (const cluster of config.static_resources.clusters) {
    const policy = cluster.load_balancing_policy?.policies[0].typed_extension_config;
    if (policy?.name !== 'envoy.load_balancing_policies.override_host') continue;
    policy.typed_config.selected_host_key = {
      key: 'envoy.lb',
      path: [{ key: 'x-gateway-destination-endpoint-served' }],
    };
    const options = cluster.typed_extension_protocol_options['envoy.extensions.upstreams.http.v3.HttpProtocolOptions'];
    options.http_filters = options.http_filters.slice(-1);
  }
  return stringify(config, { aliasDuplicateObjects: false });
}

const SUBSET_FROM_HEADER = {
  name: 'envoy.filters.http.header_to_metadata',
  typed_config: {
    '@type': 'type.googleapis.com/envoy.extensions.filters.http.header_to_metadata.v3.Config',
    request_rules: [
      {
        header: 'x-subset',
        on_header_present: {
          metadata_namespace: 'envoy.lb.subset_hint',
          key: 'x-gateway-destination-endpoint-subset',
        },
        remove: true,
      },
    ],
  },
};
