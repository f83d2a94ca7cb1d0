import { AUTHZ, DUPLEX, PD, type Row } from '../trap-rows.suite.ts';

export const TIME_ROWS: readonly Row[] = [
  ['T29', 'left out', ({ filter }) => delete filter.message_timeout],
  ['T29', 'half a second', ({ filter }) => (filter.message_timeout = '0.5s')],
  ['', 'in full duplex it does not run', ({ filter }) => delete filter.message_timeout, DUPLEX],
  ['T30', 'a timeout of the call', ({ filter }) => (filter.grpc_service.timeout = '5s')],
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
  ['T82', 'of the route', ({ route }) => (route.route.timeout = '60s')],
  [
    'T82',
    'of the stream, at the route',
    ({ route }) => (route.route.max_stream_duration = { max_stream_duration: '60s' }),
  ],
  ['T82', 'of each stream', ({ manager }) => (manager.common_http_protocol_options = { max_stream_duration: '60s' })],
  ['', 'an hour', ({ route }) => (route.route.timeout = '3600s')],
  ['', 'as the service was told', ({ route }) => (route.route.timeout = '60s'), ['--request-timeout-secs', '60']],
  ['T82', 'less than that', ({ route }) => (route.route.timeout = '30s'), ['--request-timeout-secs', '60']],
  ['T70', 'left out', ({ filter }) => delete filter.grpc_service.timeout, AUTHZ],
  ['T79', 'left out', ({ filter }) => delete filter.max_message_timeout, PD],
  ['T79', 'short', ({ filter }) => (filter.max_message_timeout = '10s'), PD],
  [
    '',
    'every message has that long',
    ({ filter }) => {
      delete filter.max_message_timeout;
      filter.message_timeout = '60s';
    },
    PD,
  ],
  ['', 'nobody waits', ({ filter }) => delete filter.max_message_timeout],
  ['', 'a sidecar waits', ({ filter }) => delete filter.max_message_timeout, [...PD, '--pd-dispatch', 'header']],
];
