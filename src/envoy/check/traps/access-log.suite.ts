import { type Row, TWO } from '../trap-rows.suite.ts';

export const ACCESS_LOG_ROWS: readonly Row[] = [
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
      filter.allowed_override_modes[0].response_trailer_mode = 'SEND';
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
];
