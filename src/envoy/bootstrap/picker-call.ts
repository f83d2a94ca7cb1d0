import { ENVOY_MARK, ENVOY_MARK_PERIODIC, PERIODIC_LOG_SECS, PICKER_CLUSTER } from '../names.ts';
import { type Address, isLocal } from './address.ts';
import { type Config, extension } from './typed.ts';

/** Retries leave out the hosts that already failed. */
export const PREVIOUS_HOSTS: Config = extension(
  'envoy.retry_host_predicates.previous_hosts',
  'envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate',
);

/**
 * `grpc_service` of a filter that asks the service, which is `cluster`.
 *
 * @param pickers what is in the cluster; empty where only a control plane knows
 */
export function pickerCall(cluster: string, pickers: readonly Address[]): Config {
  return {
    envoy_grpc: { cluster_name: cluster, authority: PICKER_CLUSTER },
    '# initial_metadata': 'tells the service that request ends come by access log, and how often a running one reports',
    initial_metadata: [{ key: ENVOY_MARK, value: `${ENVOY_MARK_PERIODIC}${PERIODIC_LOG_SECS}` }],
    ...(isBesideEnvoy(pickers) ? {} : REPEATED),
  };
}

const REPEATED: Config = {
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

/**
 * Whether the service is one process on Envoy's own machine. When it is gone, no other one can be asked, and Envoy makes a retry
 * policy anew for each call, at a fifth of what we cost it (ADR 0027).
 */
function isBesideEnvoy(pickers: readonly Address[]): boolean {
  const [only] = pickers;
  return pickers.length === 1 && only !== undefined && isLocal(only);
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
