import { DUPLEX, HEADERS, type Row } from '../trap-rows.suite.ts';

export const BODY_LIMIT_ROWS: readonly Row[] = [
  ['T14', 'no request_body_buffer_limit', ({ host }) => delete host.request_body_buffer_limit],
  ['T14', 'a small one', ({ host }) => (host.request_body_buffer_limit = 4_194_304)],
  ['T14', 'a small one of the route', ({ route }) => (route.request_body_buffer_limit = 4_194_304)],
  [
    '',
    'a small one where bodies pass whole and nothing is retried',
    ({ host, routes }) => {
      host.request_body_buffer_limit = 4_194_304;
      for (const { route } of routes) delete route?.retry_policy;
    },
    DUPLEX,
  ],
  ['T14', 'a small one where something is retried', ({ host }) => (host.request_body_buffer_limit = 4_194_304), DUPLEX],
  ['T14', 'less than the service is told', () => undefined, [], ['--envoy-body-limit', '33554432']],
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
];
