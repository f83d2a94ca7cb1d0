/**
 * The generated configuration, changed in exactly one part per variant, then step by step down to nothing but the filter. Each
 * change gets the parts of the parsed bootstrap and edits them in place; a part that it expects and does not find is an error, so
 * that no variant measures nothing.
 */
import { gracefulEnds } from '../end-to-end/envoy-edits.mjs';
import { ROUND_ROBIN } from '../end-to-end/plain-envoy.mjs';

const EXT_PROC = 'envoy.filters.http.ext_proc';
const PREVIOUS_HOSTS = {
  name: 'envoy.retry_host_predicates.previous_hosts',
  typed_config: {
    '@type': 'type.googleapis.com/envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate',
  },
};
const FEW_HEADERS = [
  ':method',
  ':path',
  ':authority',
  ':scheme',
  'content-type',
  'content-length',
  'x-request-id',
  'x-smg-routing-key',
  'x-smg-target-worker',
];

const noLog = ({ manager }) => {
  drop(manager, 'access_log');
  drop(manager, 'access_log_options');
};
const noAttemptLog = ({ router }) => drop(router, 'upstream_log');
const noStamp = ({ workers }) =>
  drop(
    workers.typed_extension_protocol_options['envoy.extensions.upstreams.http.v3.HttpProtocolOptions'],
    'http_filters',
  );
const noOverrideHost = ({ workers }) => {
  workers.load_balancing_policy = ROUND_ROBIN;
};
const fewHeaders = ({ extProc }) => {
  extProc.forward_rules = { allowed_headers: { patterns: FEW_HEADERS.map((exact) => ({ exact })) } };
};
const noAttributes = ({ extProc }) => drop(extProc, 'request_attributes');
/** As towards a service that is not one process beside Envoy. */
const callRetries = ({ extProc }) => {
  if ('retry_policy' in extProc.grpc_service) throw new Error('calls are repeated already');
  extProc.grpc_service.retry_policy = {
    retry_on: 'connect-failure,refused-stream,unavailable,reset',
    num_retries: 3,
    retry_back_off: { base_interval: '0.005s', max_interval: '10s' },
    retry_host_predicate: [PREVIOUS_HOSTS],
    host_selection_retry_max_attempts: 5,
  };
};
const noEarlyRemovals = ({ manager }) => drop(manager, 'early_header_mutation_extensions');
const noRouteRemovals = ({ host }) => drop(host, 'request_headers_to_remove');
const noRetries = ({ routes }) => {
  const holders = routes.map(({ route }) => route).filter((route) => route?.retry_policy !== undefined);
  if (holders.length === 0) throw new Error('no retry_policy');
  for (const route of holders) delete route.retry_policy;
};

/** Each is the generated configuration but for one part. */
export const VARIANTS = {
  generated: () => undefined,
  'generated again (noise)': () => undefined,
  'no access log': noLog,
  'access log batched 5 ms': (parts) => batch(parts, '0.005s'),
  'access log batched 10 ms': (parts) => batch(parts, '0.010s'),
  'access log batched 50 ms': (parts) => batch(parts, '0.050s'),
  'access log without worker tag': ({ manager }) => {
    for (const log of manager.access_log) drop(log.typed_config.common_config, 'custom_tags');
  },
  'access log without filter': ({ manager }) => {
    for (const log of manager.access_log) drop(log, 'filter');
  },
  'no periodic entries': ({ manager }) => drop(manager, 'access_log_options'),
  'no attempt log': noAttemptLog,
  'no stamp': noStamp,
  'no override_host': noOverrideHost,
  'few headers forwarded': fewHeaders,
  'no forward rules': ({ extProc }) => drop(extProc, 'forward_rules'),
  'no attributes': noAttributes,
  'three attributes': ({ extProc }) => {
    extProc.request_attributes = ['xds.route_name', 'source.address', 'request.protocol'];
  },
  'no metadata forwarded': ({ extProc }) => drop(extProc.metadata_options, 'forwarding_namespaces'),
  'no mode override': ({ extProc }) => {
    drop(extProc, 'allow_mode_override');
    drop(extProc, 'allowed_override_modes');
  },
  'calls are repeated': callRetries,
  'no retries of requests': noRetries,
  'no early removal of headers': noEarlyRemovals,
  'no removal of headers by route': noRouteRemovals,
  'no local replies': ({ manager }) => drop(manager, 'local_reply_config'),
  'streams end gracefully': ({ bootstrap }) => gracefulEnds(bootstrap),
  'calls by the older HTTP/2 codec': ({ picker }) => {
    const options = picker.typed_extension_protocol_options['envoy.extensions.upstreams.http.v3.HttpProtocolOptions'];
    options.explicit_http_config.http2_protocol_options.use_oghttp2_codec = false;
  },
  'calls without headers of Envoy': ({ extProc }) => {
    extProc.grpc_service.envoy_grpc.skip_envoy_headers = true;
  },
  'service on a Unix socket': ({ picker, socket }) => {
    const [endpoint] = picker.load_assignment.endpoints[0].lb_endpoints;
    endpoint.endpoint.address = { pipe: { path: socket } };
  },
};

/** Each is the one before it without one more part; the last one asks the service and does nothing else for it. */
const STEPS = [
  ['no access log', noLog],
  ['no attempt log', noAttemptLog],
  ['no stamp', noStamp],
  ['no override_host', noOverrideHost],
  ['no attributes', noAttributes],
  ['few headers forwarded', fewHeaders],
  ['no removal of headers', both(noEarlyRemovals, noRouteRemovals)],
  ['no retries of requests', noRetries],
];
export const LADDER = Object.fromEntries(
  STEPS.map(([name], at) => [
    `ladder: ${name}`,
    (parts) => {
      for (const [, change] of STEPS.slice(0, at + 1)) change(parts);
    },
  ]),
);

function both(first, second) {
  return (parts) => {
    first(parts);
    second(parts);
  };
}

function drop(part, name) {
  if (!(name in part)) throw new Error(`no ${name}`);
  delete part[name];
}

function batch({ manager }, interval) {
  for (const log of manager.access_log) {
    Object.assign(log.typed_config.common_config, { buffer_size_bytes: 65_536, buffer_flush_interval: interval });
  }
}

/** The parts of a parsed bootstrap that variants change; `socket` is where the service listens besides. */
export function partsOf(bootstrap, socket) {
  const { listeners, clusters } = bootstrap.static_resources;
  const manager = listeners[0].filter_chains[0].filters[0].typed_config;
  const filter = (name) => manager.http_filters.find((one) => one.name === name)?.typed_config;
  const [host] = manager.route_config.virtual_hosts;
  const cluster = (wanted) => clusters.find(({ name }) => name === wanted);
  return {
    bootstrap,
    socket,
    manager,
    host,
    routes: host.routes,
    extProc: filter(EXT_PROC),
    router: filter('envoy.filters.http.router'),
    workers: cluster('workers'),
    picker: cluster('picker'),
  };
}
