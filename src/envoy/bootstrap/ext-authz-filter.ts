import { AUTHZ_NAMESPACE, DESTINATION_NAMESPACE, PICKER_CLUSTER, STRICT_HEADER, STRICT_KEY } from '../names.ts';
import type { BootstrapOptions } from './options.ts';
import { failureMode, pickerCall } from './picker-call.ts';
import { type Config, extension, typed } from './typed.ts';

/** Of the filter's type, which is also the namespace of its metadata, whatever its own name (envoy 11.2). */
const NAME = AUTHZ_NAMESPACE;

/** The filters that ask the service, by ext_authz, where a request goes, and prepare its answer for the cluster. */
export function extAuthzFilters(options: BootstrapOptions): readonly Config[] {
  return [extAuthzFilter(options), strictFilter()];
}

function extAuthzFilter(options: BootstrapOptions): Config {
  return extension(NAME, 'envoy.extensions.filters.http.ext_authz.v3.ExtAuthz', {
    stat_prefix: 'picker',
    transport_api_version: 'V3',
    grpc_service: {
      ...pickerCall(PICKER_CLUSTER, options.pickers),
      '# timeout': "a decision takes far less; Envoy's 200 ms would fire under load",
      timeout: '5s',
    },
    ...failureMode(options.failClosed),
    '# encode_raw_headers': 'each header by itself and as it came, not joined with others of its name',
    encode_raw_headers: true,
    ...hidden(options.hiddenHeaders),
    ...body(options),
  });
}

/** The service cannot ask for a body: either each that comes is sent, or none. */
function body({ authzBody, bodyLimitBytes }: BootstrapOptions): Config {
  if (!authzBody) return {};
  return {
    '# with_request_body': 'a larger body is placed by its beginning, and goes to its worker whole',
    with_request_body: { max_request_bytes: bodyLimitBytes, allow_partial_message: true, pack_as_bytes: true },
  };
}

function hidden(names: readonly string[]): Config {
  if (names.length === 0) return {};
  return {
    '# disallowed_headers': 'secrets stay away from the service',
    disallowed_headers: { patterns: names.map((exact) => ({ exact })) },
  };
}

/**
 * The metadata of ext_authz has one namespace, and subsets look into another one: what the service says of a strict target
 * gets there by a header, which ends here.
 */
function strictFilter(): Config {
  const rule = {
    header: STRICT_HEADER,
    on_header_present: { metadata_namespace: DESTINATION_NAMESPACE, key: STRICT_KEY, type: 'STRING' },
    remove: true,
  };
  return extension('strict', 'envoy.extensions.filters.http.header_to_metadata.v3.Config', { request_rules: [rule] });
}

/** What a route whose request body may never end says of the filter. */
export function withoutBody(): Config {
  return {
    [NAME]: typed('envoy.extensions.filters.http.ext_authz.v3.ExtAuthzPerRoute', {
      check_settings: { disable_request_body_buffering: true },
    }),
  };
}
