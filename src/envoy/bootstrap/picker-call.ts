import { ENVOY_MARK, ENVOY_MARK_PERIODIC, PERIODIC_LOG_SECS, PICKER_CLUSTER } from '../names.ts';
import { type Config, extension } from './typed.ts';

/** Retries leave out the hosts that already failed. */
export const PREVIOUS_HOSTS: Config = extension(
  'envoy.retry_host_predicates.previous_hosts',
  'envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate',
);

/** `grpc_service` of a filter that asks the service, which is `cluster`. */
export function pickerCall(cluster: string): Config {
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

/** What a filter that asks the service does while there is no answer. */
export function failureMode(closed: boolean): Config {
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
