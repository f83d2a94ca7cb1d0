import { envoyGatewayManifests } from './envoy-gateway.ts';
import { gatewayApiManifests } from './inference-pool.ts';
import { istioManifests } from './istio.ts';
import { type Manifest, manifestYaml } from './manifest.ts';
import type { GatewayMode, GatewayOptions } from './options.ts';

const RENDERERS: Readonly<Record<GatewayMode, (options: GatewayOptions) => readonly Manifest[]>> = {
  istio: istioManifests,
  'envoy-gateway': envoyGatewayManifests,
  'gateway-api': gatewayApiManifests,
};

/** The service and everything a gateway needs to ask it, as one YAML stream of Kubernetes manifests. */
export function renderGateway(options: GatewayOptions): string {
  const about = [
    `smg-envoy behind a gateway. Made by \`smg-envoy envoy-config --mode ${options.mode}\`; apply with kubectl apply -f.`,
    `Service in ${options.workload.namespace}, gateway ${options.gateway.namespace}/${options.gateway.name}.`,
  ];
  return `${about.map((line) => `# ${line}\n`).join('')}\n${manifestYaml(RENDERERS[options.mode](options))}`;
}
