import { DESTINATION, DUPLEX, type Row } from '../trap-rows.suite.ts';

export const DESTINATION_ROWS: readonly Row[] = [
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
  ['T64', 'set', ({ workers }) => (workers.common_lb_config = { override_host_status: { statuses: ['HEALTHY'] } })],
];
