import { commentedYaml } from '../bootstrap/commented-yaml.ts';
import { HEALTH_SERVICE } from '../bootstrap/picker-clusters.ts';
import { STATIC_RUNTIME } from '../bootstrap/render-bootstrap.ts';
import { carrierHeaders, IDLE_TIMEOUT, RETRIED_STATUSES } from '../bootstrap/routes.ts';
import type { Config } from '../bootstrap/typed.ts';
import { DESTINATION_KEY, DESTINATION_NAMESPACE, PICK_ID_KEY, PICKER_NAMESPACE } from '../names.ts';
import { duration, GATEWAY_API, httpRoute } from './http-route.ts';
import { type Manifest, manifest, NAME } from './manifest.ts';
import type { GatewayOptions, Reference } from './options.ts';
import { GRPC_PORT, workload } from './workload.ts';

const GROUP = 'gateway.envoyproxy.io';
const API = `${GROUP}/v1alpha1`;
/** What a circuit breaker of Envoy Gateway takes at most. */
const NO_LIMIT = 4_294_967_295;

/** The service, and policies that let the Envoys of an Envoy Gateway ask it (envoy 16.2). */
export function envoyGatewayManifests(options: GatewayOptions): readonly Manifest[] {
  return [...workload(options.workload), ...envoyGateway(options)];
}

/** The part that concerns Envoy Gateway. */
export function envoyGateway(options: GatewayOptions): readonly Manifest[] {
  return [
    gateway(options),
    envoyProxy(options),
    clientTrafficPolicy(options),
    route(options),
    ...grants(options),
    extensionPolicy(options),
    backendTrafficPolicy(options),
  ];
}

const routeTarget = { group: GATEWAY_API, kind: 'HTTPRoute', name: NAME };
const serviceRef = ({ workload: { namespace } }: GatewayOptions): Config => ({
  kind: 'Service',
  name: NAME,
  namespace,
  port: GRPC_PORT,
});
const own = (options: GatewayOptions): Reference => ({ ...options.workload, name: NAME });
const atGateway = (options: GatewayOptions): Reference => ({ ...options.gateway, name: NAME });

function gateway(options: GatewayOptions): Manifest {
  const about =
    'Where you have one, leave this out and give yours the same infrastructure: applied, it would get this listener, too.';
  return manifest(`${GATEWAY_API}/v1`, 'Gateway', options.gateway, about, {
    spec: {
      gatewayClassName: 'eg',
      infrastructure: { parametersRef: { group: GROUP, kind: 'EnvoyProxy', name: NAME } },
      listeners: [{ name: 'http', protocol: 'HTTP', port: 80, allowedRoutes: { namespaces: { from: 'All' } } }],
    },
  });
}

function envoyProxy(options: GatewayOptions): Manifest {
  return manifest(API, 'EnvoyProxy', atGateway(options), 'The proxies themselves.', {
    spec: {
      ...(options.envoy.nodeHttp2 ? GRACEFUL : {}),
      telemetry: {
        '# accessLog': [
          'Tells the service how requests end, up to a second late. It stands in place of the log on stdout that an',
          'EnvoyProxy without accessLog has: add a setting with a file to keep that.',
        ].join('\n'),
        accessLog: {
          settings: [
            {
              '#': 'only requests that the service placed',
              matches: [`metadata.filter_metadata['${PICKER_NAMESPACE}']['${PICK_ID_KEY}'] != ''`],
              sinks: [{ type: 'ALS', als: { type: 'HTTP', logName: NAME, backendRefs: [serviceRef(options)] } }],
            },
          ],
        },
      },
    },
  });
}

/** What a server on Node's HTTP/2 needs (envoy 3.3). */
const GRACEFUL: Config = {
  '# bootstrap': [
    'Lets the service finish its streams. Envoy resets each by default, and the service, on the HTTP/2 of Node, would drop',
    'the whole connection after about a thousand resets.',
  ].join('\n'),
  bootstrap: {
    type: 'Merge',
    value: commentedYaml({ layered_runtime: { layers: [{ name: 'smg-envoy', static_layer: STATIC_RUNTIME }] } }),
  },
};

function clientTrafficPolicy(options: GatewayOptions): Manifest {
  const { envoy } = options;
  const about = 'What clients may send, and how long a request may be silent.';
  return manifest(API, 'ClientTrafficPolicy', atGateway(options), about, {
    spec: {
      targetRefs: [{ group: GATEWAY_API, kind: 'Gateway', name: options.gateway.name }],
      headers: {
        earlyRequestHeaders: {
          '# remove': 'before everything else: with a header as the carrier, a client could name a worker by itself',
          remove: [...carrierHeaders(envoy)],
        },
      },
      connection: {
        '# bufferLimit': 'what the service sees of a body at most, and what can be sent again; the default is 32 KiB',
        bufferLimit: envoy.bodyLimitBytes,
      },
      timeout: { http: { streamIdleTimeout: IDLE_TIMEOUT } },
    },
  });
}

function route(options: GatewayOptions): Manifest {
  const { workers } = options;
  const about = 'Routes to the workers; hosts and matches are yours. The policies below name this route.';
  const backend = { kind: 'Service', name: workers.name, namespace: workers.namespace, port: workers.port };
  return httpRoute(options, about, backend);
}

/** What the Gateway API asks for where a reference leaves its namespace. */
function grants(options: GatewayOptions): readonly Manifest[] {
  const { workload, workers, gateway: at } = options;
  const made: Manifest[] = [];
  if (workers.namespace !== workload.namespace) {
    const from = { group: GATEWAY_API, kind: 'HTTPRoute', namespace: workload.namespace };
    made.push(grant(workers, `${NAME}-route`, 'Lets the route refer to the workers.', from));
  }
  if (at.namespace !== workload.namespace) {
    const from = { group: GROUP, kind: 'EnvoyProxy', namespace: at.namespace };
    made.push(grant(own(options), `${NAME}-access-log`, "Lets the proxies' access log refer to the service.", from));
  }
  return made;
}

function grant(to: Reference, name: string, about: string, from: Config): Manifest {
  const spec = { from: [from], to: [{ group: '', kind: 'Service', name: to.name }] };
  return manifest(`${GATEWAY_API}/v1beta1`, 'ReferenceGrant', { ...to, name }, about, { spec });
}

function extensionPolicy(options: GatewayOptions): Manifest {
  const { envoy } = options;
  const response = { response: { attributes: ['upstream.address', 'response.code_details'] } };
  const about = [
    'Asks the service for each request of the route. Envoy Gateway has no field for what else the bootstrap of this project',
    'sets: max_message_timeout, forward_rules and mutation_rules.',
  ].join('\n');
  return manifest(API, 'EnvoyExtensionPolicy', own(options), about, {
    spec: {
      targetRefs: [routeTarget],
      extProc: [
        {
          backendRefs: [serviceRef(options)],
          '# failOpen': envoy.failClosed
            ? 'without the service there is no answer but 503'
            : 'without the service requests lose stickiness, not their answer',
          failOpen: !envoy.failClosed,
          ...(envoy.failClosed ? { statusOnError: 503 } : {}),
          '# messageTimeout': 'a decision takes far less; the default of 200 ms would fire under load',
          messageTimeout: '5s',
          processingMode: {
            '# allowModeOverride': 'the service asks for the body where headers do not suffice',
            allowModeOverride: true,
            request: {},
            '# response': 'one more exchange, for x-smg-routed-worker-id: only the service can write it here',
            ...(envoy.stamp ? response : {}),
          },
          metadata: {
            '# writableNamespaces': 'the pick id comes back in the access log',
            writableNamespaces: [DESTINATION_NAMESPACE, PICKER_NAMESPACE],
          },
          backendSettings: pickerSettings(),
        },
      ],
    },
  });
}

function pickerSettings(): Config {
  return {
    '# circuitBreaker': 'the defaults allow 1024 streams at once; each request being placed is one',
    circuitBreaker: {
      maxConnections: NO_LIMIT,
      maxPendingRequests: NO_LIMIT,
      maxParallelRequests: NO_LIMIT,
      maxParallelRetries: NO_LIMIT,
    },
    healthCheck: {
      active: {
        type: 'GRPC',
        grpc: { service: HEALTH_SERVICE },
        interval: '1s',
        timeout: '1s',
        unhealthyThreshold: 1,
        healthyThreshold: 1,
      },
    },
    timeout: { tcp: { connectTimeout: '250ms' } },
    retry: {
      numRetries: 3,
      retryOn: { triggers: ['connect-failure', 'refused-stream', 'unavailable', 'reset'] },
      perRetry: { backOff: { baseInterval: '5ms', maxInterval: '10s' } },
    },
  };
}

function backendTrafficPolicy(options: GatewayOptions): Manifest {
  const { envoy } = options;
  const about = 'How a worker is chosen and how a request is repeated: along the list in the header of the service.';
  return manifest(API, 'BackendTrafficPolicy', own(options), about, {
    spec: {
      targetRefs: [routeTarget],
      loadBalancer: {
        '# type': 'for requests without a pick, or whose list is used up',
        type: 'LeastRequest',
        '# endpointOverride': 'the header reaches the worker, too',
        endpointOverride: { extractFrom: [{ header: envoy.destinationHeader ?? DESTINATION_KEY }] },
      },
      retry: retry(options),
      '# circuitBreaker': 'a fleet runs far more than 1024 requests; a retry counts until its response headers',
      circuitBreaker: {
        maxConnections: NO_LIMIT,
        maxPendingRequests: NO_LIMIT,
        maxParallelRequests: NO_LIMIT,
        maxParallelRetries: NO_LIMIT,
      },
      timeout: {
        tcp: { connectTimeout: '1s' },
        http: {
          '# requestTimeout': "Envoy's 15 s would cut generations",
          requestTimeout: duration((envoy.requestTimeoutSecs ?? 0) * 1000),
          streamIdleTimeout: IDLE_TIMEOUT,
          '# connectionIdleTimeout': 'below the keep-alive time of the workers (uvicorn: 5 s)',
          connectionIdleTimeout: '4s',
        },
      },
    },
  });
}

function retry({ envoy: { retry: wanted } }: GatewayOptions): Config {
  const base = Math.max(1, wanted.initialBackoffMs);
  const reset = wanted.onReset ? 'reset' : 'reset-before-request';
  return {
    numRetries: Math.max(0, wanted.attempts - 1),
    retryOn: wanted.connectFailureOnly
      ? { triggers: ['connect-failure'] }
      : {
          triggers: ['connect-failure', 'refused-stream', reset, 'retriable-status-codes'],
          httpStatusCodes: RETRIED_STATUSES,
        },
    perRetry: {
      backOff: { baseInterval: duration(base), maxInterval: duration(Math.max(base, wanted.maxBackoffMs)) },
    },
  };
}
