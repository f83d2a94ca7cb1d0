import { BUFFERED, DUPLEX, HEADERS, type Row, routeMode, TWO } from '../trap-rows.suite.ts';

/** The server on Node's own HTTP/2. */
const STOCK = ['--transport', 'grpc-js'];

export const RETRY_ROWS: readonly Row[] = [
  ['T10', 'fail open', ({ filter }) => (filter.failure_mode_allow = true), DUPLEX],
  ['T10', 'retries, and no route without them', ({ routes }) => routes.shift(), DUPLEX],
  [
    'T31',
    'held by trailers',
    ({ filter }) => {
      filter.failure_mode_allow = false;
      filter.processing_mode.response_trailer_mode = 'SEND';
      filter.allowed_override_modes[0].response_trailer_mode = 'SEND';
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
    [...TWO, ...STOCK],
  ],
  [
    '',
    'a buffered body whose stream we end',
    ({ filter, manager }) => {
      filter.failure_mode_allow = false;
      filter.processing_mode.request_body_mode = 'BUFFERED';
      delete manager.upgrade_configs;
    },
    TWO,
  ],
  [
    'T31',
    'a buffered body, and an Envoy that promises no access log',
    ({ filter, manager }) => {
      filter.failure_mode_allow = false;
      filter.processing_mode.request_body_mode = 'BUFFERED';
      delete filter.grpc_service.initial_metadata;
      delete manager.upgrade_configs;
    },
    TWO,
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
  ['T39', 'reset, against the flag', () => undefined, [], ['--retry-on-reset', 'off']],
  ['T39', 'a timeout of an attempt', ({ route }) => (route.route.retry_policy.per_try_timeout = '30s')],
  ['T39', 'an idle timeout of an attempt', ({ route }) => (route.route.retry_policy.per_try_idle_timeout = '5s')],
  ['', 'a long one', ({ route }) => (route.route.retry_policy.per_try_idle_timeout = '900s')],
  ['T40', 'one retry', ({ route }) => (route.route.retry_policy.num_retries = 1)],
  ['T40', 'no previous_hosts', ({ route }) => delete route.route.retry_policy.retry_host_predicate],
  ['T40', 'few selections', ({ route }) => (route.route.retry_policy.host_selection_retry_max_attempts = 5)],
  [
    '',
    'one retry for one fallback',
    ({ route }) => (route.route.retry_policy.num_retries = 1),
    [],
    ['--fallbacks', '1'],
  ],
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
  ['T80', 'no route without retries, and the service asks for bodies', ({ routes }) => routes.shift()],
  [
    'T80',
    'the same, and its beginning comes unasked',
    ({ routes, filter, manager }) => {
      routes.shift();
      delete manager.upgrade_configs;
      filter.processing_mode.request_body_mode = 'BUFFERED_PARTIAL';
    },
    HEADERS,
  ],
  ['', 'the same where headers suffice', ({ routes }) => routes.shift(), HEADERS],
  [
    '',
    'the same with whole bodies, which are sent once (envoy I25)',
    ({ routes, route, filter, manager }) => {
      routes.shift();
      delete manager.upgrade_configs;
      delete filter.allow_mode_override;
      route.typed_per_filter_config = routeMode(BUFFERED);
    },
  ],
];
