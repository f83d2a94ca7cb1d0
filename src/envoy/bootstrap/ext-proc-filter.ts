import {
  DESTINATION_NAMESPACE,
  ENVOY_MARK,
  ENVOY_MARK_PERIODIC,
  PERIODIC_LOG_SECS,
  PICKER_CLUSTER,
  PICKER_NAMESPACE,
} from '../names.ts';
import type { BootstrapOptions } from './options.ts';
import { type Config, extension } from './typed.ts';

/** Headers only, one exchange, nothing of the response. */
const HEADERS_ONLY = {
  request_header_mode: 'SEND',
  response_header_mode: 'SKIP',
  request_body_mode: 'NONE',
  response_body_mode: 'NONE',
  request_trailer_mode: 'SKIP',
  response_trailer_mode: 'SKIP',
};

/** Retries leave out the hosts that already failed. */
export const PREVIOUS_HOSTS: Config = extension(
  'envoy.retry_host_predicates.previous_hosts',
  'envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate',
);

/** The filter that asks the service where a request goes (envoy 2.2). */
export function extProcFilter(options: BootstrapOptions): Config {
  return extension('envoy.filters.http.ext_proc', 'envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor', {
    stat_prefix: 'picker',
    grpc_service: grpcService(),
    ...failureMode(options.failClosed),
    '# message_timeout': "a decision takes far less; Envoy's 200 ms would fire under load",
    message_timeout: '5s',
    '# max_message_timeout': 'the service may ask for this much while it prepares a prefill',
    max_message_timeout: '60s',
    '# processing_mode': 'one exchange for a request, and no stream held while the worker generates',
    processing_mode: HEADERS_ONLY,
    '# allow_mode_override': [
      'The service asks for the body where headers do not suffice, and may ask for this mode only: BUFFERED by',
      'override can hang a request. An entry matches only when all of its fields are written out.',
    ].join('\n'),
    allow_mode_override: true,
    allowed_override_modes: [{ ...HEADERS_ONLY, request_body_mode: 'BUFFERED_PARTIAL' }],
    request_attributes: ['xds.route_name', 'source.address'],
    ...hidden(options.hiddenHeaders),
    '# mutation_rules': 'lets the service lower x-envoy-max-retries, as for a target that is to be tried alone',
    mutation_rules: { allow_envoy: true },
    '# metadata_options': 'Envoy drops metadata of namespaces that are not listed',
    metadata_options: { receiving_namespaces: { untyped: [DESTINATION_NAMESPACE, PICKER_NAMESPACE] } },
  });
}

function grpcService(): Config {
  return {
    envoy_grpc: { cluster_name: PICKER_CLUSTER, authority: PICKER_CLUSTER },
    '# initial_metadata': 'tells the service that request ends come by access log, and how often a running one reports',
    initial_metadata: [{ key: ENVOY_MARK, value: `${ENVOY_MARK_PERIODIC}${PERIODIC_LOG_SECS}` }],
    '# retry_policy': [
      'A replica that just went away costs one back-off, not an error. Envoy also takes max_interval as the time that an',
      'attempt has once the client left: a short one would ask a busy service four times for nobody.',
    ].join('\n'),
    retry_policy: {
      retry_on: 'connect-failure,refused-stream,unavailable,reset',
      num_retries: 3,
      retry_back_off: { base_interval: '0.005s', max_interval: '10s' },
      retry_host_predicate: [PREVIOUS_HOSTS],
      host_selection_retry_max_attempts: 5,
    },
  };
}

function failureMode(closed: boolean): Config {
  if (closed) {
    return {
      '# failure_mode_allow': 'fail closed: without the service there is no answer but 503',
      failure_mode_allow: false,
      status_on_error: { code: 'ServiceUnavailable' },
    };
  }
  return {
    '# failure_mode_allow': 'fail open: without the service requests lose stickiness, not their answer',
    failure_mode_allow: true,
  };
}

function hidden(names: readonly string[]): Config {
  if (names.length === 0) return {};
  return {
    '# forward_rules': 'secrets stay away from the service',
    forward_rules: { disallowed_headers: { patterns: names.map((exact) => ({ exact })) } },
  };
}
