// biome-ignore-all lint/suspicious/noExplicitAny: parsed configuration has no types
import { parse } from 'yaml';
import type { BootstrapOptions } from './options.ts';
import { renderBootstrap } from './render-bootstrap.ts';

/** Envoy at its defaults. */
export const DEFAULTS: BootstrapOptions = {
  mode: 'ext-proc',
  listen: { kind: 'tcp', host: '127.0.0.1', port: 8080 },
  pickers: [{ kind: 'tcp', host: '127.0.0.1', port: 9002 }],
  pickerTls: null,
  nodeHttp2: false,
  failClosed: false,
  admin: null,
  upstream: { http2: false, tls: null, grpc: false },
  staticWorkers: null,
  staticHealth: null,
  envoy: '1.38',
  bodyLimitBytes: 16_777_216,
  retry: { attempts: 5, initialBackoffMs: 50, maxBackoffMs: 30_000, onReset: true, connectFailureOnly: false },
  requestTimeoutSecs: null,
  hiddenHeaders: ['authorization', 'cookie'],
  destinationHeader: null,
  stamp: true,
  dpAware: false,
  disaggregated: false,
  mirrorsPrefills: false,
  prefillTimeoutSecs: 58,
  decisionHeader: false,
  authzBody: false,
};

/** A bootstrap with changed options, and the parts of it that tests look at. */
export function rendered(change: Partial<BootstrapOptions> = {}) {
  const bootstrap = parse(renderBootstrap({ ...DEFAULTS, ...change }));
  const manager = bootstrap.static_resources.listeners[0].filter_chains[0].filters[0].typed_config;
  const clusters = new Map<string, any>(bootstrap.static_resources.clusters.map((c: any) => [c.name, c]));
  const workers = clusters.get('workers');
  const upstream = workers.typed_extension_protocol_options['envoy.extensions.upstreams.http.v3.HttpProtocolOptions'];
  return {
    bootstrap,
    listener: bootstrap.static_resources.listeners[0],
    manager,
    extProc: manager.http_filters[0].typed_config,
    vhost: manager.route_config.virtual_hosts[0],
    route: manager.route_config.virtual_hosts[0].routes.at(-1).route,
    clusters,
    workers,
    override: workers.load_balancing_policy.policies[0].typed_extension_config.typed_config,
    stamp: upstream.http_filters[0].typed_config.mutations.response_mutations,
  };
}
