import { BUFFERED, DUPLEX, HEADERS, type Row, routeMode, TWO } from '../trap-rows.suite.ts';

export const MODE_ROWS: readonly Row[] = [
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
  [
    '',
    'a trailer mode left out on both sides',
    ({ filter }) => {
      delete filter.processing_mode.response_trailer_mode;
      delete filter.allowed_override_modes[0].response_trailer_mode;
    },
  ],
  ['T5', 'STREAMED only', ({ filter }) => (filter.allowed_override_modes[0].request_body_mode = 'STREAMED')],
  ['T5', 'another trailer mode', ({ filter }) => (filter.allowed_override_modes[0].response_trailer_mode = 'SEND')],
  ['T5', 'a trailer mode left out in the filter', ({ filter }) => delete filter.processing_mode.request_trailer_mode],
  [
    '',
    'trailers wanted on both sides',
    ({ filter }) => {
      filter.processing_mode.request_trailer_mode = 'SEND';
      filter.allowed_override_modes[0].request_trailer_mode = 'SEND';
    },
  ],
  [
    '',
    'a trailer mode left out in the filter, and headers suffice',
    ({ filter }) => delete filter.processing_mode.request_trailer_mode,
    HEADERS,
  ],
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
  ['T5 T11', 'SEND, and the entry says SKIP', ({ filter }) => (filter.processing_mode.response_header_mode = 'SEND')],
  ['T5 T11', 'left out, and the entry says SKIP', ({ filter }) => delete filter.processing_mode.response_header_mode],
  [
    'T11',
    'SEND on both sides',
    ({ filter }) => {
      filter.processing_mode.response_header_mode = 'SEND';
      filter.allowed_override_modes[0].response_header_mode = 'SEND';
    },
  ],
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
  [
    'T11 T31',
    'held by response headers before 1.37',
    ({ filter }) => {
      filter.failure_mode_allow = false;
      filter.processing_mode.response_header_mode = 'SEND';
      filter.allowed_override_modes[0].response_header_mode = 'SEND';
    },
    [...TWO, '--envoy-version', '1.36'],
  ],
];
