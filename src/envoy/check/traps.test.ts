import { describe, expect, it } from 'vitest';
import { type Envoy, flawed, generated, settingsFor } from '../../../test/support/envoy-check.ts';
import { TRAPS } from './all-traps.ts';
import { checkEnvoy } from './check-envoy.ts';

type Change = (envoy: Envoy) => void;
/** What is found (an id, with the first letter of its level where that is not the trap's own), and what an operator did. */
type Row = readonly [found: string, what: string, change: Change, flags?: readonly string[]];

const STATIC = ['--static-workers', '--worker-urls', 'http://10.0.0.1:8000', 'http://10.0.0.2:8000'];
const TWO = ['--picker', '127.0.0.1:9002', '127.0.0.1:9004'];
const AUTHZ = ['--mode', 'ext-authz'];
const DUPLEX = ['--mode', 'ext-proc-full-duplex'];
const PD = ['--pd-disaggregation', '--prefill', 'http://10.0.0.1:8000', '--decode', 'http://10.0.0.2:8000'];
const STRICT = ['--policy', 'consistent_hashing'];
const HEADERS = ['--policy', 'round_robin'];

const DESTINATION = 'x-gateway-destination-endpoint';
const STAMP = 'x-smg-routed-worker-id';
const EXT_PROC = 'type.googleapis.com/envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor';
const PER_ROUTE = 'type.googleapis.com/envoy.extensions.filters.http.ext_proc.v3.ExtProcPerRoute';

const perRoute = (fields: object, name = 'envoy.filters.http.ext_proc') => ({
  [name]: { '@type': PER_ROUTE, ...fields },
});
const routeMode = (mode: object) => perRoute({ overrides: { processing_mode: mode } });
const BUFFERED = { request_header_mode: 'SEND', response_header_mode: 'SKIP', request_body_mode: 'BUFFERED' };
const stampBy = (value: string, action?: string) => ({
  header: { key: STAMP, value },
  ...(action === undefined ? {} : { append_action: action }),
});
const OVERWRITE = 'OVERWRITE_IF_EXISTS_OR_ADD';
const stampMutation = ({ workersHttp }: Envoy) =>
  workersHttp.http_filters[0].typed_config.mutations.response_mutations.find(
    ({ append }: { append?: object }) => append,
  );

const ROWS: readonly Row[] = [
  ['T1', 'no runtime layer', ({ config }) => delete config.layered_runtime],
  ['T1', 'the guard is off', ({ config }) => (config.layered_runtime.layers[0].static_layer = {})],
  ['T1', 'only an admin layer', ({ config }) => (config.layered_runtime.layers = [{ name: 'admin', admin_layer: {} }])],
  [
    '',
    'the guard is nested',
    ({ config }) => {
      const layer = { envoy: { reloadable_features: { ext_proc_graceful_grpc_close: true } } };
      config.layered_runtime.layers[0].static_layer = layer;
    },
  ],
  [
    'T2',
    'a guard that is gone',
    ({ config }) => {
      config.layered_runtime.layers[0].static_layer['envoy.reloadable_features.ext_proc_stream_close_optimization'] =
        false;
    },
  ],
  [
    'T2',
    'another guard that is gone',
    ({ config }) => {
      config.layered_runtime.layers[0].static_layer['envoy.reloadable_features.reset_with_error'] = false;
    },
  ],
  [
    '',
    'a guard that this Envoy has',
    ({ config }) => {
      config.layered_runtime.layers[0].static_layer['envoy.reloadable_features.reset_with_error'] = false;
    },
    ['--envoy-version', '1.39'],
  ],
  ['T3', 'allow_mode_override is false', ({ filter }) => (filter.allow_mode_override = false)],
  ['T3', 'allow_mode_override left out', ({ filter }) => delete filter.allow_mode_override],
  ['', 'the same, and headers suffice', ({ filter }) => delete filter.allow_mode_override, HEADERS],
  [
    '',
    'the same, and the route buffers',
    ({ filter, route, manager }) => {
      delete filter.allow_mode_override;
      delete manager.upgrade_configs;
      route.typed_per_filter_config = routeMode(BUFFERED);
    },
  ],
  [
    '',
    'key headers by one route, bodies by the next (envoy 2.3)',
    ({ filter, routes, route, manager }) => {
      delete filter.allow_mode_override;
      delete manager.upgrade_configs;
      routes.unshift({
        ...route,
        match: { prefix: '/', headers: [{ name: 'x-smg-routing-key', present_match: true }] },
      });
      route.typed_per_filter_config = routeMode(BUFFERED);
    },
  ],
  ['T4', 'a trailer mode left out', ({ filter }) => delete filter.allowed_override_modes[0].response_trailer_mode],
  ['T4', 'header mode DEFAULT', ({ filter }) => (filter.allowed_override_modes[0].response_header_mode = 'DEFAULT')],
  ['T5', 'STREAMED only', ({ filter }) => (filter.allowed_override_modes[0].request_body_mode = 'STREAMED')],
  ['T5', 'another trailer mode', ({ filter }) => (filter.allowed_override_modes[0].response_trailer_mode = 'SEND')],
  ['T6', 'an empty list', ({ filter }) => delete filter.allowed_override_modes],
  [
    'T6',
    'BUFFERED beside PARTIAL',
    ({ filter }) => {
      const [partial] = filter.allowed_override_modes;
      filter.allowed_override_modes.push({ ...partial, request_body_mode: 'BUFFERED' });
    },
  ],
  [
    'T7',
    'with bodies that do not wait for the header answer',
    ({ filter }) => (filter.send_body_without_waiting_for_header_response = true),
  ],
  [
    'T7 T10',
    'with full duplex',
    ({ filter, route }) => {
      Object.assign(filter.processing_mode, {
        request_body_mode: 'FULL_DUPLEX_STREAMED',
        request_trailer_mode: 'SEND',
      });
      delete route.route.retry_policy;
    },
  ],
  ['T8', 'in the filter', ({ filter }) => (filter.processing_mode.request_body_mode = 'STREAMED')],
  [
    'T8',
    'on a route',
    ({ route }) => (route.typed_per_filter_config = routeMode({ ...BUFFERED, request_body_mode: 'STREAMED' })),
  ],
  ['T9', 'no request trailers', ({ filter }) => delete filter.processing_mode.request_trailer_mode, DUPLEX],
  ['T9', 'no response trailers', ({ filter }) => (filter.processing_mode.response_trailer_mode = 'SKIP'), DUPLEX],
  ['T10', 'fail open', ({ filter }) => (filter.failure_mode_allow = true), DUPLEX],
  ['T10', 'retries, and no route without them', ({ routes }) => routes.shift(), DUPLEX],
  ['T11', 'SEND', ({ filter }) => (filter.processing_mode.response_header_mode = 'SEND')],
  ['T11', 'left out', ({ filter }) => delete filter.processing_mode.response_header_mode],
  ['T11', 'on a route', ({ route }) => (route.typed_per_filter_config = routeMode({ request_header_mode: 'SEND' }))],
  ['T12', 'STREAMED', ({ filter }) => (filter.processing_mode.response_body_mode = 'STREAMED')],
  ['T12', 'BUFFERED', ({ filter }) => (filter.processing_mode.response_body_mode = 'BUFFERED')],
  [
    'T13',
    'BUFFERED without headers',
    ({ filter, manager }) => {
      delete manager.upgrade_configs;
      Object.assign(filter.processing_mode, { request_header_mode: 'SKIP', request_body_mode: 'BUFFERED' });
    },
  ],
  [
    '',
    'the same with the length kept (envoy 2.3)',
    ({ filter, manager }) => {
      delete manager.upgrade_configs;
      Object.assign(filter.processing_mode, { request_header_mode: 'SKIP', request_body_mode: 'BUFFERED' });
      filter.allow_content_length_header = true;
    },
  ],
  ['T14', 'no request_body_buffer_limit', ({ host }) => delete host.request_body_buffer_limit],
  ['T14', 'a small one', ({ host }) => (host.request_body_buffer_limit = 4_194_304)],
  ['T14', 'a small one of the route', ({ route }) => (route.request_body_buffer_limit = 4_194_304)],
  ['T14', 'less than the service is told', () => undefined, ['--envoy-body-limit', '33554432']],
  [
    '',
    'enough by the connection',
    ({ host, listener }) => {
      delete host.request_body_buffer_limit;
      listener.per_connection_buffer_limit_bytes = 16_777_216;
    },
  ],
  ['T15', 'a large limit', ({ host }) => (host.request_body_buffer_limit = 104_857_600)],
  ['T15', 'a limit of 64-bit kind', ({ host }) => (host.request_body_buffer_limit = '104857600')],
  [
    'T15',
    'a large connection buffer',
    ({ listener, host }) => {
      listener.per_connection_buffer_limit_bytes = 104_857_600;
      delete host.request_body_buffer_limit;
    },
  ],
  [
    '',
    'a large limit where no body is read',
    ({ host, filter }) => {
      host.request_body_buffer_limit = 104_857_600;
      delete filter.allow_mode_override;
    },
    HEADERS,
  ],
  ['T16', 'no window', ({ manager }) => delete manager.http2_protocol_options],
  [
    'T16',
    'a window above the limit',
    ({ manager }) => (manager.http2_protocol_options.initial_stream_window_size = 33_554_432),
  ],
  [
    '',
    'no window where nobody speaks HTTP/2',
    ({ manager }) => {
      manager.codec_type = 'HTTP1';
      delete manager.http2_protocol_options;
    },
  ],
  ['T17', 'below the connection buffer', ({ listener }) => (listener.per_connection_buffer_limit_bytes = 20_971_520)],
  [
    'T18',
    'no namespace for picks',
    ({ filter }) => (filter.metadata_options.receiving_namespaces.untyped = ['picker']),
  ],
  ['T18', 'none for ids', ({ filter }) => (filter.metadata_options.receiving_namespaces.untyped = ['envoy.lb'])],
  ['T18', 'no metadata at all', ({ filter }) => delete filter.metadata_options],
  [
    'T19',
    'a route with a list of its own',
    ({ route }) => {
      const receiving_namespaces = { untyped: ['mine'] };
      route.typed_per_filter_config = perRoute({ overrides: { metadata_options: { receiving_namespaces } } });
    },
  ],
  [
    '',
    'a route that forwards other metadata',
    ({ route }) => {
      const forwarding_namespaces = { untyped: ['envoy.lb.subset_hint'] };
      route.typed_per_filter_config = perRoute({ overrides: { metadata_options: { forwarding_namespaces } } });
    },
  ],
  [
    '',
    'an entry without request_header_mode',
    ({ filter }) => delete filter.allowed_override_modes[0].request_header_mode,
  ],
  [
    'T20',
    'least_request alone',
    ({ workers }) => {
      delete workers.load_balancing_policy;
      workers.lb_policy = 'LEAST_REQUEST';
    },
  ],
  [
    'T20',
    'one of two clusters of a split route',
    ({ route, clusters, workers }) => {
      clusters.push({ ...workers, name: 'canary', load_balancing_policy: undefined });
      delete route.route.cluster;
      route.route.weighted_clusters = {
        clusters: [
          { name: 'workers', weight: 9 },
          { name: 'canary', weight: 1 },
        ],
      };
    },
  ],
  ['T21', 'another key', ({ override }) => (override.override_host_sources[0].metadata.path[0].key = 'endpoint')],
  ['T21', 'another namespace', ({ override }) => (override.override_host_sources[0].metadata.key = 'envoy.lb.pick')],
  [
    'T21 T23',
    'a header that the service does not send, removed from clients by nobody',
    ({ override, host }) => {
      override.override_host_sources = [{ header: 'x-worker' }];
      host.request_headers_to_remove = ['x-smg-target-worker'];
    },
  ],
  [
    'T22',
    'removed by the virtual host',
    ({ override, filter }) => {
      delete filter.grpc_service.initial_metadata;
      override.override_host_sources = [{ header: DESTINATION }];
    },
    ['--destination-header', DESTINATION],
  ],
  [
    'T23',
    'a header source beside the metadata, nothing strips it',
    ({ override, manager }) => {
      override.override_host_sources.push({ header: DESTINATION });
      delete manager.early_header_mutation_extensions;
    },
  ],
  [
    'T23 T26',
    'ORIGINAL_DST by header (envoy 6.8)',
    ({ workers, manager }) => {
      for (const key of ['eds_cluster_config', 'load_balancing_policy']) delete workers[key];
      Object.assign(workers, {
        type: 'ORIGINAL_DST',
        lb_policy: 'CLUSTER_PROVIDED',
        original_dst_lb_config: { use_http_header: true, http_header_name: DESTINATION },
      });
      delete manager.early_header_mutation_extensions;
    },
  ],
  [
    '',
    'a header source beside the metadata, stripped by a filter before',
    ({ override, manager, filters }) => {
      override.override_host_sources.push({ header: DESTINATION });
      delete manager.early_header_mutation_extensions;
      const type = 'type.googleapis.com/envoy.extensions.filters.http.header_mutation.v3.HeaderMutation';
      filters.unshift({
        name: 'strip',
        typed_config: { '@type': type, mutations: { request_mutations: [{ remove: DESTINATION }] } },
      });
    },
  ],
  ['T24', 'no fallback', ({ override }) => delete override.fallback_policy],
  [
    'T24',
    'header and metadata in one source',
    ({ override }) => (override.override_host_sources[0].header = DESTINATION),
  ],
  [
    'T25',
    'the service repeats the pick in a header (full duplex without our mark)',
    ({ filter, host }) => {
      delete filter.grpc_service.initial_metadata;
      host.request_headers_to_remove = ['x-smg-target-worker'];
    },
    DUPLEX,
  ],
  [
    'T26',
    'ORIGINAL_DST by metadata',
    ({ workers }) => {
      for (const key of ['eds_cluster_config', 'load_balancing_policy']) delete workers[key];
      const metadata_key = { key: 'envoy.lb', path: [{ key: DESTINATION }] };
      Object.assign(workers, {
        type: 'ORIGINAL_DST',
        lb_policy: 'CLUSTER_PROVIDED',
        original_dst_lb_config: { metadata_key },
      });
    },
  ],
  ['T27', 'no thresholds', ({ picker }) => delete picker.circuit_breakers],
  ['T27', 'only one raised', ({ picker }) => delete picker.circuit_breakers.thresholds[0].max_pending_requests],
  ['T27', 'only HIGH raised', ({ picker }) => (picker.circuit_breakers.thresholds[0].priority = 'HIGH')],
  ['T28', 'no options', ({ picker }) => delete picker.typed_extension_protocol_options],
  [
    'T28',
    'HTTP/1.1',
    ({ picker }) => {
      const options = picker.typed_extension_protocol_options['envoy.extensions.upstreams.http.v3.HttpProtocolOptions'];
      options.explicit_http_config = { http_protocol_options: {} };
    },
  ],
  [
    'T28',
    'a logger cluster',
    ({ clusters }) => delete clusters.find(({ name }) => name === 'picker_2').typed_extension_protocol_options,
    TWO,
  ],
  [
    '',
    'the old field',
    ({ picker }) => {
      delete picker.typed_extension_protocol_options;
      picker.http2_protocol_options = {};
    },
  ],
  ['T29', 'left out', ({ filter }) => delete filter.message_timeout],
  ['T29', 'half a second', ({ filter }) => (filter.message_timeout = '0.5s')],
  ['', 'in full duplex it does not run', ({ filter }) => delete filter.message_timeout, DUPLEX],
  ['T30', 'a timeout of the call', ({ filter }) => (filter.grpc_service.timeout = '5s')],
  [
    'T31',
    'held by trailers',
    ({ filter }) => {
      filter.failure_mode_allow = false;
      filter.processing_mode.response_trailer_mode = 'SEND';
    },
    TWO,
  ],
  [
    'T31',
    'held by a buffered body',
    ({ filter, manager }) => {
      filter.failure_mode_allow = false;
      filter.processing_mode.request_body_mode = 'BUFFERED';
      delete manager.upgrade_configs;
    },
    TWO,
  ],
  [
    'T11 T31',
    'held by response headers before 1.37',
    ({ filter }) => {
      filter.failure_mode_allow = false;
      filter.processing_mode.response_header_mode = 'SEND';
    },
    [...TWO, '--envoy-version', '1.36'],
  ],
  ['T32', 'one replica', ({ filter }) => (filter.failure_mode_allow = false)],
  ['T32', 'failing closed is the default', ({ filter }) => delete filter.failure_mode_allow],
  ['', 'two replicas', ({ filter }) => (filter.failure_mode_allow = false), TWO],
  [
    'T33',
    'neither checks nor retries',
    ({ picker, filter }) => {
      delete picker.health_checks;
      delete filter.grpc_service.retry_policy;
    },
    TWO,
  ],
  ['T34', 'no back-off', ({ filter }) => delete filter.grpc_service.retry_policy.retry_back_off],
  ['T34', 'no previous_hosts', ({ filter }) => delete filter.grpc_service.retry_policy.retry_host_predicate],
  [
    'T34',
    'in envoy_grpc',
    ({ filter }) => {
      filter.grpc_service.envoy_grpc.retry_policy = filter.grpc_service.retry_policy;
      delete filter.grpc_service.retry_policy;
    },
  ],
  ['T35', 'of 0', ({ picker }) => (picker.common_lb_config = { healthy_panic_threshold: { value: 0 } })],
  ['T36', 'left out', ({ route }) => delete route.route.timeout],
  [
    'T37',
    'of the stream',
    ({ manager, route }) => {
      manager.stream_idle_timeout = '300s';
      delete route.route.idle_timeout;
    },
  ],
  [
    'T37',
    'both left out',
    ({ manager, route }) => {
      delete manager.stream_idle_timeout;
      delete route.route.idle_timeout;
    },
  ],
  ['T37', 'of the route', ({ route }) => (route.route.idle_timeout = '60s')],
  ['T37', 'of the request', ({ manager }) => (manager.request_timeout = '30s')],
  ['T37:n', 'of the stream, while every route has its own', ({ manager }) => (manager.stream_idle_timeout = '60s')],
  [
    '',
    'switched off',
    ({ manager, route }) => {
      manager.stream_idle_timeout = '0s';
      route.route.idle_timeout = '0s';
    },
  ],
  ['T38', 'no policy', ({ route }) => delete route.route.retry_policy],
  ['T38', 'statuses only', ({ route }) => (route.route.retry_policy.retry_on = 'retriable-status-codes')],
  [
    '',
    'a policy of the virtual host',
    ({ route, host }) => {
      host.retry_policy = route.route.retry_policy;
      delete route.route.retry_policy;
    },
  ],
  ['T39', '5xx', ({ route }) => (route.route.retry_policy.retry_on = '5xx')],
  ['T39', 'gateway-error', ({ route }) => (route.route.retry_policy.retry_on += ',gateway-error')],
  ['T39', 'reset, against the flag', () => undefined, ['--retry-on-reset', 'off']],
  ['T39', 'a timeout of an attempt', ({ route }) => (route.route.retry_policy.per_try_timeout = '30s')],
  ['T40', 'one retry', ({ route }) => (route.route.retry_policy.num_retries = 1)],
  ['T40', 'no previous_hosts', ({ route }) => delete route.route.retry_policy.retry_host_predicate],
  ['T40', 'few selections', ({ route }) => (route.route.retry_policy.host_selection_retry_max_attempts = 5)],
  ['', 'one retry for one fallback', ({ route }) => (route.route.retry_policy.num_retries = 1), ['--fallbacks', '1']],
  ['T41', 'no thresholds', ({ workers }) => delete workers.circuit_breakers],
  ['T41', 'retries', ({ workers }) => delete workers.circuit_breakers.thresholds[0].max_retries],
  [
    '',
    'a budget of retries',
    ({ workers }) => {
      const [threshold] = workers.circuit_breakers.thresholds;
      delete threshold.max_retries;
      threshold.retry_budget = {};
    },
  ],
  [
    'T42',
    'by the virtual host',
    ({ host, workersHttp }) => {
      workersHttp.http_filters.shift();
      host.response_headers_to_remove = [STAMP];
      host.response_headers_to_add = [stampBy('%UPSTREAM_METADATA(worker:stamp)%', OVERWRITE)];
    },
  ],
  [
    'T42 T43',
    'by a route that does not remove it',
    ({ route, workersHttp }) => {
      workersHttp.http_filters.shift();
      route.response_headers_to_add = [stampBy('%UPSTREAM_METADATA(worker:stamp)%', OVERWRITE)];
    },
  ],
  ['T43', 'no append_action', (envoy) => delete stampMutation(envoy).append.append_action],
  ['T43', 'ADD_IF_ABSENT', (envoy) => (stampMutation(envoy).append.append_action = 'ADD_IF_ABSENT')],
  [
    'T44',
    'the list of the service',
    (envoy) => (stampMutation(envoy).append.header.value = `%DYNAMIC_METADATA(envoy.lb:${DESTINATION})%`),
  ],
  ['T44', 'a request header', (envoy) => (stampMutation(envoy).append.header.value = `%REQ(${DESTINATION})%`)],
  [
    '',
    'the host that was chosen last',
    (envoy) => (stampMutation(envoy).append.header.value = `%DYNAMIC_METADATA(envoy.lb:${DESTINATION}-served)%`),
  ],
  [
    'T45',
    'no metadata',
    ({ workers }) => {
      for (const one of workers.load_assignment.endpoints[0].lb_endpoints) delete one.metadata;
    },
    STATIC,
  ],
  [
    'T45',
    'one without a stamp',
    ({ workers }) => {
      delete workers.load_assignment.endpoints[0].lb_endpoints[1].metadata.filter_metadata.worker.stamp;
    },
    STATIC,
  ],
  [
    'T46',
    'in the stamp',
    (envoy) => (stampMutation(envoy).append.header.value = '%UPSTREAM_METADATA(["worker","stamp"])%'),
  ],
  ['T47', 'no access log', ({ manager }) => delete manager.access_log],
  [
    'T47',
    "another one's",
    ({ logger, clusters }) => {
      const address = { socket_address: { address: '10.9.9.9', port_value: 4317 } };
      const load_assignment = { cluster_name: 'other', endpoints: [{ lb_endpoints: [{ endpoint: { address } }] }] };
      clusters.push({ name: 'other', type: 'STATIC', load_assignment });
      logger.typed_config.common_config.grpc_service.envoy_grpc.cluster_name = 'other';
    },
  ],
  [
    '',
    'held streams instead (envoy 3.4)',
    ({ manager, filter }) => {
      delete manager.access_log;
      filter.processing_mode.response_trailer_mode = 'SEND';
    },
  ],
  ['T48', 'left out', ({ logger }) => delete logger.typed_config.common_config.buffer_size_bytes],
  [
    'T49',
    'a cluster of both replicas',
    ({ manager, logger }) => {
      logger.typed_config.common_config.grpc_service.envoy_grpc.cluster_name = 'picker';
      manager.access_log.pop();
    },
    TWO,
  ],
  ['T49', 'one logger for two replicas', ({ manager }) => manager.access_log.pop(), TWO],
  ['T50', 'left out', ({ manager }) => delete manager.access_log_options],
  ['T50', 'less often than promised', ({ manager }) => (manager.access_log_options.access_log_flush_interval = '60s')],
  ['T51', 'no filter', ({ logger }) => delete logger.filter],
  [
    'T51',
    'a filter that lets all else pass',
    ({ logger }) => delete logger.filter.metadata_filter.match_if_key_not_found,
  ],
  ['T52', 'no allow_envoy', ({ filter }) => delete filter.mutation_rules, STRICT],
  [
    'T52',
    'a plain fallback',
    ({ override }) => {
      const name = 'envoy.load_balancing_policies.least_request';
      const typed_config = {
        '@type': `type.googleapis.com/envoy.extensions.load_balancing_policies.least_request.v3.LeastRequest`,
      };
      override.fallback_policy = { policies: [{ typed_extension_config: { name, typed_config } }] };
    },
    STRICT,
  ],
  ['T52', 'a further key', ({ override }) => (override.selected_host_key.key = 'envoy.lb'), STRICT],
  ['T52:n', 'where nobody asks for one worker', ({ filter }) => delete filter.mutation_rules],
  ['T53', 'left out', ({ manager }) => delete manager.use_remote_address],
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
    'T61',
    'the key header',
    ({ filter }) =>
      filter.forward_rules.disallowed_headers.patterns.push({ exact: 'X-SMG-Routing-Key', ignore_case: true }),
    ['--routing-key-sources', 'headers'],
  ],
  ['T61', 'hints', ({ filter }) => filter.forward_rules.disallowed_headers.patterns.push({ prefix: 'x-smg-target' })],
  ['T61', 'a cookie with a key', () => undefined, ['--routing-key-sources', 'rid,cookie:sid']],
  [
    'T61',
    'all but a few',
    ({ filter }) => (filter.forward_rules = { allowed_headers: { patterns: [{ exact: 'x-smg-routing-key' }] } }),
  ],
  ['T62', 'no rules', ({ filter }) => delete filter.forward_rules],
  ['T62', 'one of two', ({ filter }) => filter.forward_rules.disallowed_headers.patterns.shift()],
  ['', 'needed as keys', ({ filter }) => delete filter.forward_rules, STRICT],
  ['T63', 'no checks', ({ workers }) => delete workers.health_checks, STATIC],
  [
    '',
    'outlier detection',
    ({ workers }) => {
      delete workers.health_checks;
      workers.outlier_detection = {};
    },
    STATIC,
  ],
  ['T64', 'set', ({ workers }) => (workers.common_lb_config = { override_host_status: { statuses: ['HEALTHY'] } })],
  ['T65', 'endless', ({ workers }) => (workers.eds_cluster_config.eds_config.initial_fetch_timeout = '0s')],
  ['T65', 'long', ({ workers }) => (workers.eds_cluster_config.eds_config.initial_fetch_timeout = '60s')],
  [
    'T66',
    'a file that is not there',
    ({ workers }) => {
      const path_config_source = { path: '/nowhere/endpoints.json' };
      workers.eds_cluster_config.eds_config = { resource_api_version: 'V3', path_config_source };
    },
  ],
  [
    'T67',
    'for picks',
    ({ filter }) => {
      const google_grpc = { target_uri: '127.0.0.1:9002', stat_prefix: 'picker' };
      delete filter.grpc_service.envoy_grpc;
      filter.grpc_service.google_grpc = google_grpc;
    },
  ],
  [
    'T68',
    'before the service',
    ({ filters }) => {
      const type = 'type.googleapis.com/envoy.extensions.filters.http.decompressor.v3.Decompressor';
      filters.unshift({ name: 'gunzip', typed_config: { '@type': type } });
    },
  ],
  ['T69', 'no body', ({ filter }) => delete filter.with_request_body, AUTHZ],
  ['T69', 'as text', ({ filter }) => delete filter.with_request_body.pack_as_bytes, AUTHZ],
  [
    'T69',
    'small and whole',
    ({ filter }) => (filter.with_request_body = { max_request_bytes: 8192, pack_as_bytes: true }),
    AUTHZ,
  ],
  [
    'T69',
    'switched off by the route',
    ({ route }) => {
      const type = 'type.googleapis.com/envoy.extensions.filters.http.ext_authz.v3.ExtAuthzPerRoute';
      const check_settings = { disable_request_body_buffering: true };
      route.typed_per_filter_config = { 'envoy.filters.http.ext_authz': { '@type': type, check_settings } };
    },
    AUTHZ,
  ],
  ['T70', 'left out', ({ filter }) => delete filter.grpc_service.timeout, AUTHZ],
  ['T71', 'that of ext_proc', ({ override }) => (override.override_host_sources[0].metadata.key = 'envoy.lb'), AUTHZ],
  [
    'T72',
    'a mirror to a cluster that takes picks',
    ({ route, clusters, workers }) => {
      clusters.push({ ...workers, name: 'prefill' });
      route.route.request_mirror_policies = [{ cluster: 'prefill' }];
    },
  ],
  [
    '',
    'any other mirror',
    ({ route, clusters }) => {
      clusters.push({ name: 'shadow', type: 'STRICT_DNS' });
      route.route.request_mirror_policies = [{ cluster: 'shadow' }];
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
  [
    'T75',
    'a body_format for all',
    ({ manager }) => (manager.local_reply_config.body_format = { text_format_source: { inline_string: 'sorry' } }),
  ],
  [
    'T75',
    'a mapper by status',
    ({ manager }) => {
      const comparison = { op: 'GE', value: { default_value: 500, runtime_key: 'k' } };
      manager.local_reply_config.mappers.push({ filter: { status_code_filter: { comparison } }, status_code: 500 });
    },
  ],
  [
    '',
    'a mapper by a status that is never ours',
    ({ manager }) => {
      const comparison = { op: 'EQ', value: { default_value: 431, runtime_key: 'k' } };
      manager.local_reply_config.mappers.push({ filter: { status_code_filter: { comparison } } });
    },
  ],
  ...['%RESPONSE_CODE_DETAILS%', '%LOCAL_REPLY_BODY%'].map(
    (text): Row => [
      'T76',
      text,
      ({ manager }) => {
        const [mapper] = manager.local_reply_config.mappers;
        mapper.body_format_override = { json_format: { error: { message: text } } };
      },
    ],
  ),
  ['T77', 'left out', ({ workersHttp }) => delete workersHttp.common_http_protocol_options],
  ['T77', 'a minute', ({ workersHttp }) => (workersHttp.common_http_protocol_options.idle_timeout = '60s')],
  ['T77', 'never', ({ workersHttp }) => (workersHttp.common_http_protocol_options.idle_timeout = '0s')],
  ['T78', 'on', ({ manager }) => (manager.proxy_100_continue = true)],
  ['T79', 'left out', ({ filter }) => delete filter.max_message_timeout, PD],
  ['T79', 'short', ({ filter }) => (filter.max_message_timeout = '10s'), PD],
  ['', 'nobody waits', ({ filter }) => delete filter.max_message_timeout],
  ['', 'a sidecar waits', ({ filter }) => delete filter.max_message_timeout, [...PD, '--pd-dispatch', 'header']],
];

/** Flags of `envoy-config` alone. */
const GENERATOR = new Set(['--mode', '--static-workers', '--listen', '--fail']);
/** Written for another Envoy than the newest, or by other settings than it is judged by: what such a row is about. */
const ONLY_JUDGED = ['--envoy-body-limit', '--retry-on-reset', '--routing-key-sources', '--fallbacks'];

function forCheck(flags: readonly string[]): string[] {
  const kept: string[] = [];
  for (let i = 0; i < flags.length; i++) {
    const flag = flags[i] ?? '';
    if (!GENERATOR.has(flag)) kept.push(flag);
    else if (flag !== '--static-workers') i++;
  }
  return kept;
}

function forGenerator(flags: readonly string[]): string[] {
  return ONLY_JUDGED.includes(flags[0] ?? '') || (flags.includes('--envoy-version') && flags[1] === '1.39')
    ? []
    : [...flags];
}

const bases = new Map<string, string>();

async function base(flags: readonly string[]): Promise<string> {
  const key = flags.join(' ');
  const known = bases.get(key) ?? (await generated(flags));
  bases.set(key, known);
  return known;
}

function found(yaml: string, flags: readonly string[]): string {
  const { findings, problems } = checkEnvoy([{ name: 'envoy.yaml', text: yaml }], settingsFor(forCheck(flags)));
  expect(problems).toEqual([]);
  const usual = new Map(TRAPS.map(({ id, level }) => [id as string, level]));
  const shown = findings.map(({ trap, level }) => (usual.get(trap) === level ? trap : `${trap}:${level[0]}`));
  return [...new Set(shown)]
    .sort((a, b) => Number.parseInt(a.slice(1), 10) - Number.parseInt(b.slice(1), 10))
    .join(' ');
}

describe('envoy 19: each flaw is found, and nothing else', () => {
  it.for(ROWS)('%s %s', async ([expected, , change, flags = []]) => {
    const yaml = flawed(await base(forGenerator(flags)), change);

    expect(found(yaml, flags)).toBe(expected);
  });

  it('every trap has a row', () => {
    const seen = new Set(ROWS.flatMap(([ids]) => ids.split(' ').map((id) => id.replace(/:.*/, ''))));

    expect(TRAPS.map(({ id }) => id).filter((id) => !seen.has(id))).toEqual([]);
  });

  it('all 79 are there, once each', () => {
    expect(TRAPS.map(({ id }) => id)).toEqual(Array.from({ length: 79 }, (_, i) => `T${i + 1}`));
  });
});
