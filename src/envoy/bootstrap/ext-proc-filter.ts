import { ENVOY_MARK, ENVOY_MARK_PERIODIC, PERIODIC_LOG_SECS, PICKER_CLUSTER } from '../names.ts';
import type { BootstrapOptions } from './options.ts';
import { processing } from './processing.ts';
import { type Config, extension } from './typed.ts';

/** Retries leave out the hosts that already failed. */
export const PREVIOUS_HOSTS: Config = extension(
  'envoy.retry_host_predicates.previous_hosts',
  'envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate',
);

/** The filter that asks the service, which is `cluster`, where a request goes (envoy 2.2). */
export function extProcFilter(options: BootstrapOptions, cluster: string = PICKER_CLUSTER): Config {
  return extension('envoy.filters.http.ext_proc', 'envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor', {
    stat_prefix: 'picker',
    grpc_service: grpcService(cluster),
    ...failureMode(options.failClosed),
    '# message_timeout': "a decision takes far less; Envoy's 200 ms would fire under load",
    message_timeout: '5s',
    '# max_message_timeout': 'the service may ask for this much while it prepares a prefill',
    max_message_timeout: '60s',
    ...processing(options),
    request_attributes: ['xds.route_name', 'source.address'],
    ...hidden(options.hiddenHeaders),
    '# mutation_rules': 'lets the service lower x-envoy-max-retries, as for a target that is to be tried alone',
    mutation_rules: { allow_envoy: true },
  });
}

function grpcService(cluster: string): Config {
  return {
    envoy_grpc: { cluster_name: cluster, authority: PICKER_CLUSTER },
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
