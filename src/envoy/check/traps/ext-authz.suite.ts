import { AUTHZ, type Row } from '../trap-rows.suite.ts';

export const EXT_AUTHZ_ROWS: readonly Row[] = [
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
  ['T71', 'that of ext_proc', ({ override }) => (override.override_host_sources[0].metadata.key = 'envoy.lb'), AUTHZ],
];
