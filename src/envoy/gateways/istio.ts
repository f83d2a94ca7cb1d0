import { attemptLogger, endLogger } from '../bootstrap/access-log.ts';
import { extProcFilter } from '../bootstrap/ext-proc-filter.ts';
import { localReplyConfig } from '../bootstrap/local-replies.ts';
import { pickerCall } from '../bootstrap/picker-call.ts';
import { pickerProtocol } from '../bootstrap/picker-clusters.ts';
import { STATIC_RUNTIME } from '../bootstrap/render-bootstrap.ts';
import {
  carrierHeaders,
  decisionHeader,
  ONCE_MATCH,
  removedHeaders,
  routeAction,
  WHY_ONCE,
  withoutRetries,
} from '../bootstrap/routes.ts';
import { type Config, extension, typed } from '../bootstrap/typed.ts';
import { workerPolicy, workerProtocol } from '../bootstrap/worker-cluster.ts';
import { PERIODIC_LOG_SECS } from '../names.ts';
import { type Manifest, manifest, NAME } from './manifest.ts';
import type { GatewayOptions, Reference } from './options.ts';
import { GRPC_PORT, workload } from './workload.ts';

/** Name of the filter: not Envoy's usual one, which an InferencePool on the same gateway has. */
const FILTER = 'smg-envoy.ext_proc';
/** Name of the route whose requests are placed. */
export const ROUTE = NAME;
/** Name of the one that the service takes for what is to be sent once. */
const ONCE_ROUTE = `${NAME}-once`;

const MANAGER = 'envoy.filters.network.http_connection_manager';
const ROUTER = 'envoy.filters.http.router';
/** Envoy's default, and so the body limit of HTTP/2 clients unless the window is smaller (envoy 4.4). */
const HTTP2_WINDOW = 16_777_216;

/** The service, and patches that let the Envoys of an Istio gateway ask it (envoy 16.1). */
export function istioManifests(options: GatewayOptions): readonly Manifest[] {
  return [...workload(options.workload), ...istioGateway(options)];
}

/** The part that concerns Istio. */
export function istioGateway(options: GatewayOptions): readonly Manifest[] {
  return [virtualService(options), destinationRule(options), envoyFilter(options)];
}

const hostOf = ({ namespace, name }: Reference): string => `${name}.${namespace}.svc.cluster.local`;

/** Name that istiod gives the cluster of a service's port. */
function clusterOf(service: Reference, port: number): string {
  return `outbound|${port}||${hostOf(service)}`;
}

/** The cluster of the service. */
export function pickerCluster({ workload: { namespace } }: GatewayOptions): string {
  return clusterOf({ namespace, name: NAME }, GRPC_PORT);
}

function virtualService(options: GatewayOptions): Manifest {
  const { gateway, workers } = options;
  const about = `Routes to the workers. Only a route that is named ${ROUTE} is placed by the service; hosts and matches are yours.`;
  const body = {
    spec: {
      hosts: ['*'],
      gateways: [`${gateway.namespace}/${gateway.name}`],
      http: [
        {
          name: ROUTE,
          match: [{ uri: { prefix: '/v1/' } }],
          route: [{ destination: { host: hostOf(workers), port: { number: workers.port } } }],
        },
      ],
    },
  };
  return manifest('networking.istio.io/v1', 'VirtualService', { ...options.workload, name: NAME }, about, body);
}

function destinationRule(options: GatewayOptions): Manifest {
  const { workers } = options;
  const about = [
    'Envoy refuses a cluster that weighs localities and has a policy of its own: off for the workers.',
    'Leave outlierDetection out, too: the service knows the health of workers, and named workers are tried whatever it is.',
  ].join('\n');
  const body = {
    spec: {
      host: hostOf(workers),
      trafficPolicy: { loadBalancer: { simple: 'LEAST_REQUEST', localityLbSetting: { enabled: false } } },
    },
  };
  return manifest('networking.istio.io/v1', 'DestinationRule', { ...workers, name: NAME }, about, body);
}

/** By a service on Node's HTTP/2 (envoy 3.3). */
const ALSO_NEEDED = [
  'Also needed in its pods, since a filter cannot set it: the runtime guard',
  'envoy.reloadable_features.ext_proc_graceful_grpc_close, by this annotation of the pod template of the gateway:',
  '  proxy.istio.io/config: |',
  '    runtimeValues:',
  ...Object.entries(STATIC_RUNTIME).map(([name, value]) => `      ${name}: "${value}"`),
].join('\n');

function envoyFilter(options: GatewayOptions): Manifest {
  const patched = 'Patches the Envoys of the gateway.';
  const about = options.envoy.nodeHttp2 ? `${patched} ${ALSO_NEEDED}` : patched;
  const body = {
    spec: {
      workloadSelector: { labels: options.gatewayPods },
      configPatches: [
        filterPatch(options),
        attemptsPatch(options),
        managerPatch(options),
        routePatch(options),
        oncePatch(options),
        workersPatch(options),
        pickerPatch(options),
      ],
    },
  };
  const at = { namespace: options.gateway.namespace, name: NAME };
  return manifest('networking.istio.io/v1alpha3', 'EnvoyFilter', at, about, body);
}

const inManager = (subFilter: Config): Config => ({
  context: 'GATEWAY',
  listener: { filterChain: { filter: { name: MANAGER, ...subFilter } } },
});
const beforeRouter = inManager({ subFilter: { name: ROUTER } });

function filterPatch(options: GatewayOptions): Config {
  const filter = extProcFilter(options.envoy, pickerCall(pickerCluster(options), []));
  return {
    '#': 'asks the service; off, so that only routes that turn it on are placed',
    applyTo: 'HTTP_FILTER',
    match: beforeRouter,
    patch: { operation: 'INSERT_BEFORE', value: { ...filter, name: FILTER, disabled: true } },
  };
}

function attemptsPatch(options: GatewayOptions): Config {
  return {
    '#': "attempts that failed, for the service's circuit breakers: a retry hides them from the access log",
    applyTo: 'HTTP_FILTER',
    match: beforeRouter,
    patch: {
      operation: 'MERGE',
      value: extension(ROUTER, 'envoy.extensions.filters.http.router.v3.Router', {
        upstream_log: [attemptLogger(options.envoy, pickerCluster(options))],
      }),
    },
  };
}

function managerPatch(options: GatewayOptions): Config {
  const { envoy } = options;
  const type = 'envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager';
  const window = { initial_stream_window_size: Math.max(65_535, envoy.bodyLimitBytes) };
  return {
    '#': [
      'Applies to every listener of these pods. The access log takes placed requests only, and the local replies those of',
      'the route; access_log_flush_interval concerns all: a log of your own gets a line every 10 s for what still runs.',
    ].join('\n'),
    applyTo: 'NETWORK_FILTER',
    match: inManager({}),
    patch: {
      operation: 'MERGE',
      value: extension(MANAGER, type, {
        ...(envoy.bodyLimitBytes < HTTP2_WINDOW ? { http2_protocol_options: window } : {}),
        '# early_header_mutation_extensions': 'before every filter: no client names a worker by itself',
        early_header_mutation_extensions: [
          extension('strip', 'envoy.extensions.http.early_header_mutation.header_mutation.v3.HeaderMutation', {
            mutations: carrierHeaders(envoy).map((remove) => ({ remove })),
          }),
        ],
        '# access_log_options': 'a request that runs for long says that it still does',
        access_log_options: { access_log_flush_interval: `${PERIODIC_LOG_SECS}s` },
        access_log: [endLogger(pickerCluster(options))],
        '# local_reply_config': "Envoy's own errors on the route in SMG's envelope; the first match wins",
        local_reply_config: localReplyConfig(`xds.route_name == "${ROUTE}" || xds.route_name == "${ONCE_ROUTE}"`),
      }),
    },
  };
}

const atRoute: Config = { context: 'GATEWAY', routeConfiguration: { vhost: { route: { name: ROUTE } } } };

function routePatch(options: GatewayOptions): Config {
  return {
    '#': 'the route to the workers: asks the service, and retries along its list',
    applyTo: 'HTTP_ROUTE',
    match: atRoute,
    patch: { operation: 'MERGE', value: { ...placed(options), route: routeAction(options.envoy) } },
  };
}

function oncePatch(options: GatewayOptions): Config {
  const { envoy, workers } = options;
  const route = { cluster: clusterOf(workers, workers.port), ...withoutRetries(routeAction(envoy)) };
  return {
    '#': WHY_ONCE,
    applyTo: 'HTTP_ROUTE',
    match: atRoute,
    patch: { operation: 'INSERT_BEFORE', value: { name: ONCE_ROUTE, match: ONCE_MATCH, ...placed(options), route } },
  };
}

/** What routes have whose requests the service places. */
function placed({ envoy }: GatewayOptions): Config {
  const perRoute = typed('envoy.extensions.filters.http.ext_proc.v3.ExtProcPerRoute', { overrides: {} });
  return {
    typed_per_filter_config: { [FILTER]: perRoute },
    '# request_body_buffer_limit': 'what the service sees of a body at most, and what Envoy can send again',
    request_body_buffer_limit: envoy.bodyLimitBytes,
    '# request_headers_to_remove': 'workers never see them, also while the service is away',
    request_headers_to_remove: removedHeaders(envoy),
    ...decisionHeader(envoy.decisionHeader),
  };
}

function workersPatch(options: GatewayOptions): Config {
  const { workers, envoy } = options;
  return {
    '#': [
      "The cluster that istiod makes of the workers' Service: same endpoints, chosen by the service. Its limits of",
      'concurrent requests stay: they are far off unless a connectionPool of a DestinationRule sets them.',
    ].join('\n'),
    applyTo: 'CLUSTER',
    match: { context: 'GATEWAY', cluster: { service: hostOf(workers), portNumber: workers.port } },
    patch: {
      operation: 'MERGE',
      value: {
        connect_timeout: '1s',
        '# typed_extension_protocol_options':
          "replaces istiod's entry: HTTP/1.1; the stamp is the address that answered",
        typed_extension_protocol_options: workerProtocol(envoy, 'http://%UPSTREAM_HOST%'),
        load_balancing_policy: workerPolicy(envoy),
      },
    },
  };
}

function pickerPatch(options: GatewayOptions): Config {
  return {
    '#': 'the service: a pod that is gone costs a quarter of a second',
    applyTo: 'CLUSTER',
    match: { context: 'GATEWAY', cluster: { name: pickerCluster(options) } },
    patch: {
      operation: 'MERGE',
      value: { connect_timeout: '0.25s', typed_extension_protocol_options: pickerProtocol('ext-proc') },
    },
  };
}
