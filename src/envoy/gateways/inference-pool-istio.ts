import { EVERYTHING } from '../bootstrap/processing.ts';
import { typed } from '../bootstrap/typed.ts';
import { PICKER_CLUSTER } from '../names.ts';
import { pickerCluster } from './istio.ts';
import { type Manifest, manifest, NAME } from './manifest.ts';
import type { GatewayOptions } from './options.ts';

/** Name that istiod gives the filter. */
const FILTER = 'envoy.filters.http.ext_proc';

/**
 * What an InferencePool needs on Istio where the service speaks Node's HTTP/2: istiod names no authority for it, so Envoy
 * takes the name of the cluster, whose `|` that refuses.
 */
export function inferencePoolOnIstio(options: GatewayOptions): Manifest {
  const { gateway, gatewayPods, workload, envoy } = options;
  const about = [
    'Names an authority in the calls to the service. Without it Envoy sends the name of the cluster, with | in it, which a',
    'service with --transport grpc-js refuses. It repeats what istiod says for the route: the name is NAMESPACE.ROUTE.RULE, as',
    "in the proxy's configuration (istioctl proxy-config routes).",
  ].join('\n');
  const overrides = {
    failure_mode_allow: !envoy.failClosed,
    grpc_service: { envoy_grpc: { cluster_name: pickerCluster(options), authority: PICKER_CLUSTER } },
    processing_mode: EVERYTHING,
  };
  const perRoute = typed('envoy.extensions.filters.http.ext_proc.v3.ExtProcPerRoute', { overrides });
  const at = { namespace: gateway.namespace, name: NAME };
  return manifest('networking.istio.io/v1alpha3', 'EnvoyFilter', at, about, {
    spec: {
      workloadSelector: { labels: gatewayPods },
      configPatches: [
        {
          applyTo: 'HTTP_ROUTE',
          match: {
            context: 'GATEWAY',
            routeConfiguration: { vhost: { route: { name: `${workload.namespace}.${NAME}.0` } } },
          },
          patch: { operation: 'MERGE', value: { typed_per_filter_config: { [FILTER]: perRoute } } },
        },
      ],
    },
  });
}
