import { perRoute, type Row } from '../trap-rows.suite.ts';

export const METADATA_ROWS: readonly Row[] = [
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
];
