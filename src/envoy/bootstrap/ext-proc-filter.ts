import { MORE_TIME_MARGIN_SECS, PICKER_CLUSTER } from '../names.ts';
import type { BootstrapOptions } from './options.ts';
import { failureMode, pickerCall } from './picker-call.ts';
import { processing } from './processing.ts';
import { type Config, extension } from './typed.ts';

/** The filter that asks the service where a request goes (envoy 2.2). */
export function extProcFilter(
  options: BootstrapOptions,
  call: Config = pickerCall(PICKER_CLUSTER, options.pickers),
): Config {
  return extension('envoy.filters.http.ext_proc', 'envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor', {
    stat_prefix: 'picker',
    grpc_service: call,
    ...failureMode(options.failClosed),
    '# message_timeout': "a decision takes far less; Envoy's 200 ms would fire under load",
    message_timeout: '5s',
    '# max_message_timeout': 'the service may ask for this much while it prepares a prefill',
    max_message_timeout: `${options.prefillTimeoutSecs + MORE_TIME_MARGIN_SECS}s`,
    ...processing(options),
    '# request_attributes': 'tells whether trailers may follow a body',
    request_attributes: ['request.protocol'],
    ...hidden(options.hiddenHeaders),
    '# mutation_rules': 'lets the service lower x-envoy-max-retries, as for a target that is to be tried alone',
    mutation_rules: { allow_envoy: true },
  });
}

function hidden(names: readonly string[]): Config {
  if (names.length === 0) return {};
  return {
    '# forward_rules': 'secrets stay away from the service',
    forward_rules: { disallowed_headers: { patterns: names.map((exact) => ({ exact })) } },
  };
}
