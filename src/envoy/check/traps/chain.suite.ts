import { BUFFERED, EXT_PROC, perRoute, type Row, routeMode } from '../trap-rows.suite.ts';

export const CHAIN_ROWS: readonly Row[] = [
  ['T54', 'BUFFERED on the route of everything', ({ route }) => (route.typed_per_filter_config = routeMode(BUFFERED))],
  [
    '',
    'BUFFERED behind a route for upgrades',
    ({ route, routes }) => {
      routes.unshift({ ...route, match: { prefix: '/', headers: [{ name: 'upgrade', present_match: true }] } });
      route.typed_per_filter_config = routeMode(BUFFERED);
    },
  ],
  ['T55', 'on', ({ filter }) => (filter.observability_mode = true)],
  ['T56', 'on', ({ filter }) => (filter.disable_immediate_response = true)],
  [
    'T57',
    'among upstream filters',
    ({ workersHttp, filters }) => workersHttp.http_filters.unshift(structuredClone(filters[0])),
  ],
  ['T57', 'behind the router', ({ filters }) => filters.push(filters.shift())],
  [
    'T58',
    'a second filter',
    ({ filters }) => {
      const grpc_service = { envoy_grpc: { cluster_name: 'guardrails' } };
      const typed_config = { '@type': EXT_PROC, grpc_service, processing_mode: { response_header_mode: 'SKIP' } };
      filters.splice(1, 0, { name: 'guardrails', typed_config });
    },
  ],
  [
    'T58',
    'a wrapped filter',
    ({ filters }) => {
      const extension_config = { name: 'inner', typed_config: filters[0].typed_config };
      const type = 'type.googleapis.com/envoy.extensions.common.matching.v3.ExtensionWithMatcher';
      filters[0].typed_config = { '@type': type, extension_config };
    },
  ],
  [
    'T58',
    'another filter of the same name',
    ({ filters }) => {
      const type = 'type.googleapis.com/envoy.extensions.filters.http.cors.v3.Cors';
      filters.splice(1, 0, { name: filters[0].name, typed_config: { '@type': type } });
    },
  ],
  [
    'T59',
    'a wrong name',
    ({ routes, route }) => {
      const match = { path: '/docs' };
      routes.unshift({ ...route, match, typed_per_filter_config: perRoute({ disabled: true }, 'envoy.ext_proc') });
    },
  ],
  ...['request_attributes', 'response_attributes', 'async_mode'].map(
    (name): Row => [
      'T60',
      name,
      ({ route }) => (route.typed_per_filter_config = perRoute({ overrides: { [name]: true } })),
    ],
  ),
  [
    'T68',
    'before the service',
    ({ filters }) => {
      const type = 'type.googleapis.com/envoy.extensions.filters.http.decompressor.v3.Decompressor';
      filters.unshift({ name: 'gunzip', typed_config: { '@type': type } });
    },
  ],
  [
    'T73',
    'a direct answer',
    ({ routes }) => routes.unshift({ match: { path: '/healthz' }, direct_response: { status: 200 } }),
  ],
  [
    'T73',
    'a cluster of its own',
    ({ routes, clusters }) => {
      clusters.push({ name: 'admin', type: 'STATIC' });
      routes.unshift({ match: { prefix: '/admin/' }, route: { cluster: 'admin', timeout: '5s' } });
    },
  ],
  [
    '',
    'switched off for it',
    ({ routes }) => {
      const route = { match: { path: '/healthz' }, direct_response: { status: 200 } };
      routes.unshift({ ...route, typed_per_filter_config: perRoute({ disabled: true }) });
    },
  ],
  [
    'T74',
    'selected_host_key',
    ({ override }) => (override.selected_host_key = { key: 'picker', path: [{ key: 'served' }] }),
    ['--envoy-version', '1.37'],
  ],
  [
    'T74',
    'a formatter',
    ({ host }) => {
      const header = { key: 'x-attempted', value: '%UPSTREAM_HOSTS_ATTEMPTED%' };
      host.response_headers_to_add = [{ header }];
    },
    ['--envoy-version', '1.37'],
  ],
  ['T83', 'off', ({ filters }) => (filters[0].disabled = true)],
  [
    '',
    'off, and on for the routes',
    ({ filters, routes }) => {
      filters[0].disabled = true;
      for (const route of routes) route.typed_per_filter_config = perRoute({ overrides: {} });
    },
  ],
  [
    'T84',
    'before the service',
    ({ filters }) => {
      const type = 'type.googleapis.com/envoy.extensions.filters.http.buffer.v3.Buffer';
      filters.unshift({ name: 'buffer', typed_config: { '@type': type, max_request_bytes: 1_048_576 } });
    },
  ],
  ['T78', 'on', ({ manager }) => (manager.proxy_100_continue = true)],
];
