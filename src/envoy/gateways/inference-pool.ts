import { httpRoute } from './http-route.ts';
import { type Manifest, manifest, NAME } from './manifest.ts';
import type { GatewayOptions } from './options.ts';
import { GRPC_PORT, workload } from './workload.ts';

const GROUP = 'inference.networking.k8s.io';

/** The service as the endpoint picker of an InferencePool (endpoint-picker-protocol 1). */
export function gatewayApiManifests(options: GatewayOptions): readonly Manifest[] {
  return [...workload(options.workload), ...inferencePool(options)];
}

/** The pool and a route to it. */
export function inferencePool(options: GatewayOptions): readonly Manifest[] {
  return [pool(options), route(options)];
}

function pool(options: GatewayOptions): Manifest {
  const { workload: at, envoy } = options;
  const about = [
    'The worker pods, and who chooses among them. The service has to find the same pods, by service_discovery: what it',
    'names and the pool does not have is skipped by the gateway.',
  ].join('\n');
  return manifest(`${GROUP}/v1`, 'InferencePool', { ...at, name: NAME }, about, {
    spec: {
      selector: { matchLabels: at.pods?.labels ?? {} },
      targetPorts: [{ number: at.pods?.port ?? options.workers.port }],
      endpointPickerRef: {
        kind: 'Service',
        name: NAME,
        port: { number: GRPC_PORT },
        '# failureMode':
          'in full duplex a request whose body has begun to flow fails with the service, whatever it says',
        failureMode: envoy.failClosed ? 'FailClose' : 'FailOpen',
      },
    },
  });
}

function route(options: GatewayOptions): Manifest {
  const about = 'Routes to the pool; hosts and matches are yours.';
  return httpRoute(options, about, { group: GROUP, kind: 'InferencePool', name: NAME });
}
