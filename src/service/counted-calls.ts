/** Counts what happens on the gRPC port by service. */
import type { Metrics } from '../telemetry/metrics.ts';
import type { ServiceLabel } from '../telemetry/own-metrics.ts';
import type { Method } from '../transport/transport.ts';

const LABELS: ReadonlyMap<string, ServiceLabel> = new Map([
  ['envoy.service.ext_proc.v3.ExternalProcessor', 'ext_proc'],
  ['envoy.service.auth.v3.Authorization', 'ext_authz'],
  ['envoy.service.accesslog.v3.AccessLogService', 'access_log'],
  ['envoy.service.endpoint.v3.EndpointDiscoveryService', 'eds'],
  ['envoy.service.discovery.v3.AggregatedDiscoveryService', 'ads'],
  ['grpc.health.v1.Health', 'health'],
  ['grpc.reflection.v1.ServerReflection', 'reflection'],
]);

/** The same methods, each call of which counts. */
export function countedCalls(methods: readonly Method[], metrics: Metrics): readonly Method[] {
  return methods.map((method) => {
    const calls = metrics.streams.cell(serviceOf(method.path));
    return {
      path: method.path,
      open: (call) => {
        calls.value += 1;
        return method.open(call);
      },
    };
  });
}

/** Label of the service of a path `/package.Service/Method`. Throws for one that this port does not have. */
export function serviceOf(path: string): ServiceLabel {
  const name = path.slice(1, path.lastIndexOf('/'));
  const label = LABELS.get(name);
  if (label === undefined) throw new Error(`no label for the service of ${path}`);
  return label;
}
