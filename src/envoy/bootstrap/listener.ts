import { PERIODIC_LOG_SECS } from '../names.ts';
import { accessLoggers, attemptLoggers } from './access-log.ts';
import { envoyAddress } from './address.ts';
import { extAuthzFilters } from './ext-authz-filter.ts';
import { extProcFilter } from './ext-proc-filter.ts';
import { localReplyConfig } from './local-replies.ts';
import type { BootstrapOptions } from './options.ts';
import { carrierHeaders, IDLE_TIMEOUT, routeConfig } from './routes.ts';
import { type Config, extension } from './typed.ts';

const MEBIBYTE = 1_048_576;
/** Smallest HTTP/2 stream window (RFC 9113 6.9.2). */
const MIN_WINDOW = 65_535;

/** Where clients come in. */
export function listener(options: BootstrapOptions): Config {
  return {
    name: 'edge',
    address: envoyAddress(options.listen),
    '# per_connection_buffer_limit_bytes': 'the body limit is the larger of this and request_body_buffer_limit',
    per_connection_buffer_limit_bytes: Math.min(MEBIBYTE, options.bodyLimitBytes),
    filter_chains: [{ filters: [connectionManager(options)] }],
  };
}

function connectionManager(options: BootstrapOptions): Config {
  const type = 'envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager';
  return extension('envoy.filters.network.http_connection_manager', type, {
    stat_prefix: 'edge',
    '# use_remote_address': "takes a client's x-envoy-* headers away: it sets no timeouts and no retries",
    use_remote_address: true,
    '# skip_xff_append': "x-forwarded-for may be a routing key: it stays the client's own",
    skip_xff_append: true,
    '# generate_request_id': 'the service names the request, and the client learns the name',
    generate_request_id: false,
    preserve_external_request_id: true,
    always_set_request_id_in_response: true,
    request_headers_timeout: '10s',
    stream_idle_timeout: IDLE_TIMEOUT,
    '# http_protocol_options': 'trailers pass on HTTP/1.1 too, here and at the workers',
    http_protocol_options: { enable_trailers: true },
    '# http2_protocol_options': "Envoy's 16 MiB window would be the body limit of HTTP/2 clients",
    http2_protocol_options: {
      initial_stream_window_size: Math.max(MIN_WINDOW, Math.min(MEBIBYTE, options.bodyLimitBytes)),
    },
    upgrade_configs: [{ upgrade_type: 'websocket' }],
    '# early_header_mutation_extensions': 'before every filter: no client names a worker by itself',
    early_header_mutation_extensions: [
      extension('strip', 'envoy.extensions.http.early_header_mutation.header_mutation.v3.HeaderMutation', {
        mutations: carrierHeaders(options).map((remove) => ({ remove })),
      }),
    ],
    '# access_log_options': 'a request that runs for long says that it still does',
    access_log_options: { access_log_flush_interval: `${PERIODIC_LOG_SECS}s` },
    access_log: accessLoggers(options),
    '# local_reply_config': [
      "Envoy's own errors in SMG's envelope. Answers of workers and of the service match none of these.",
      'Texts are constant, since Envoy could only add internals to them. The first match wins.',
    ].join('\n'),
    local_reply_config: localReplyConfig(null, options.mode),
    http_filters: [
      ...(options.mode === 'ext-authz' ? extAuthzFilters(options) : [extProcFilter(options)]),
      extension('envoy.filters.http.router', 'envoy.extensions.filters.http.router.v3.Router', {
        '# upstream_log':
          "attempts that failed, for the service's circuit breakers: a retry hides them from the access log",
        upstream_log: attemptLoggers(options),
      }),
    ],
    route_config: routeConfig(options),
  });
}
