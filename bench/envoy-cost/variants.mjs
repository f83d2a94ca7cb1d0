/**
 * The generated configuration, changed in exactly one part per variant. Each change gets the parts of the parsed bootstrap
 * and edits them in place; a part that it expects and does not find is an error, so that no variant measures nothing.
 */
const EXT_PROC = 'envoy.filters.http.ext_proc';
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

export const VARIANTS = {
  generated: () => undefined,
  'generated, again (noise)': () => undefined,
  'no access log': ({ manager }) => drop(manager, 'access_log'),
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
  'no attempt log': ({ router }) => drop(router, 'upstream_log'),
  'no upstream filters (stamp)': ({ router, workers }) => {
    const found = 'upstream_http_filters' in router;
    if (found) delete router.upstream_http_filters;
    const options =
      workers.typed_extension_protocol_options?.['envoy.extensions.upstreams.http.v3.HttpProtocolOptions'];
    if (options !== undefined && 'http_filters' in options) delete options.http_filters;
    else if (!found) throw new Error('no upstream filters');
  },
  'few headers forwarded': ({ extProc }) => {
    extProc.forward_rules = { allowed_headers: { patterns: FEW_HEADERS.map((exact) => ({ exact })) } };
  },
  'no forward rules': ({ extProc }) => drop(extProc, 'forward_rules'),
  'no attributes': ({ extProc }) => drop(extProc, 'request_attributes'),
  'response headers not sent': ({ extProc }) => {
    extProc.processing_mode.response_header_mode = 'SKIP';
  },
  'no mode override': ({ extProc }) => {
    drop(extProc, 'allow_mode_override');
    delete extProc.allowed_override_modes;
  },
  'no retry policy': ({ host, routes }) => {
    const holders = [host, ...routes.map(({ route }) => route)].filter((at) => at?.retry_policy !== undefined);
    if (holders.length === 0) throw new Error('no retry_policy');
    for (const at of holders) delete at.retry_policy;
  },
  'no local replies': ({ manager }) => drop(manager, 'local_reply_config'),
};

function drop(part, name) {
  if (!(name in part)) throw new Error(`no ${name}`);
  delete part[name];
}

function batch({ manager }, interval) {
  for (const log of manager.access_log) {
    Object.assign(log.typed_config.common_config, { buffer_size_bytes: 65_536, buffer_flush_interval: interval });
  }
}

/** The parts of a parsed bootstrap that variants change. */
export function partsOf({ static_resources: { listeners, clusters } }) {
  const manager = listeners[0].filter_chains[0].filters[0].typed_config;
  const filter = (name) => manager.http_filters.find((one) => one.name === name)?.typed_config;
  const host = manager.route_config.virtual_hosts[0];
  return {
    manager,
    host,
    routes: host.routes,
    extProc: filter(EXT_PROC),
    router: filter('envoy.filters.http.router'),
    workers: clusters.find(({ name }) => name === 'workers'),
  };
}
