import type { Envoy } from '../../../../test/support/envoy-check.ts';
import { HEADERS, type Row, TWO } from '../trap-rows.suite.ts';

export const PICKER_CLUSTER_ROWS: readonly Row[] = [
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
  ['T34', 'no back-off', ({ filter }) => delete filter.grpc_service.retry_policy.retry_back_off, TWO],
  ['T34', 'no previous_hosts', ({ filter }) => delete filter.grpc_service.retry_policy.retry_host_predicate, TWO],
  [
    'T34',
    'in envoy_grpc',
    ({ filter }) => {
      filter.grpc_service.envoy_grpc.retry_policy = filter.grpc_service.retry_policy;
      delete filter.grpc_service.retry_policy;
    },
    TWO,
  ],
  ['T35', 'of 0', ({ picker }) => (picker.common_lb_config = { healthy_panic_threshold: { value: 0 } })],
  ['T81', 'a name as istiod makes it, for grpc-js', namedByIstio, [...HEADERS, '--transport', 'grpc-js']],
  ['T81:n', 'a name as istiod makes it', namedByIstio, HEADERS],
  [
    'T67',
    'for picks',
    ({ filter }) => {
      const google_grpc = { target_uri: '127.0.0.1:9002', stat_prefix: 'picker' };
      delete filter.grpc_service.envoy_grpc;
      filter.grpc_service.google_grpc = google_grpc;
    },
  ],
];

function namedByIstio({ picker, filter, logger }: Envoy): void {
  const name = 'outbound|9002||smg-envoy.llm.svc.cluster.local';
  for (const service of [filter.grpc_service, logger.typed_config.common_config.grpc_service]) {
    service.envoy_grpc = { cluster_name: name };
  }
  picker.name = name;
  picker.load_assignment.cluster_name = name;
}
