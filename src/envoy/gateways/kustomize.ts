import { commentedYaml } from '../bootstrap/commented-yaml.ts';
import { DESTINATION_KEY } from '../names.ts';
import { envoyGateway } from './envoy-gateway.ts';
import { inferencePool } from './inference-pool.ts';
import { inferencePoolOnIstio } from './inference-pool-istio.ts';
import { istioGateway } from './istio.ts';
import { type Manifest, manifestYaml } from './manifest.ts';
import type { GatewayOptions } from './options.ts';
import { standaloneEnvoy } from './standalone.ts';
import { sharedPinsPatch, workload } from './workload.ts';

/** What one overlay adds to the base. */
interface Overlay {
  readonly about: string;
  /** File of the manifests it adds. */
  readonly file: string;
  readonly manifests: readonly Manifest[];
  /** Settings of the service beyond those of the base. */
  readonly settings: Readonly<Record<string, unknown>>;
}

/** Istio labels the pods that it makes for a Gateway of the Gateway API. */
const OWN_GATEWAY: Partial<GatewayOptions> = { gatewayPods: { 'gateway.networking.k8s.io/gateway-name': 'gateway' } };

const PIN_STORE = 'redis://redis:6379';
const SHARED_PINS = {
  '#': 'Two replicas that share their pins in Redis, for any overlay: components: [../../components/shared-pins]',
  apiVersion: 'kustomize.config.k8s.io/v1alpha1',
  kind: 'Component',
  patches: [{ path: 'deployment.yaml' }],
};

/** The files of `deploy/kustomize`: path there, and text. `options` are those of the base, of any mode. */
export function kustomizeFiles(options: GatewayOptions): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  const base = byFile(workload(options.workload));
  for (const [file, manifests] of base) files.set(`base/${file}`, manifestYaml(manifests));
  files.set('base/kustomization.yaml', kustomization('The service alone.', { resources: [...base.keys()] }));
  files.set('components/shared-pins/deployment.yaml', commentedYaml(sharedPinsPatch(options.workload, PIN_STORE)));
  files.set('components/shared-pins/kustomization.yaml', commentedYaml(SHARED_PINS));

  for (const [name, overlay] of Object.entries(overlays(options))) {
    const { about, file, manifests, settings } = overlay;
    files.set(`overlays/${name}/${file}`, manifestYaml(manifests));
    const patched = Object.keys(settings).length > 0;
    if (patched) files.set(`overlays/${name}/config-map.yaml`, manifestYaml([configMap(options, settings)]));
    const patches = patched ? { patches: [{ path: 'config-map.yaml' }] } : {};
    files.set(
      `overlays/${name}/kustomization.yaml`,
      kustomization(about, { resources: ['../../base', file], ...patches }),
    );
  }
  return files;
}

function overlays(options: GatewayOptions): Readonly<Record<string, Overlay>> {
  const at = (mode: GatewayOptions['mode'], change: Partial<GatewayOptions> = {}): GatewayOptions => ({
    ...options,
    mode,
    ...change,
  });
  return {
    istio: {
      about: "Istio's gateway asks the service, by EnvoyFilter.",
      file: 'istio.yaml',
      manifests: istioGateway(at('istio', { gateway: { namespace: 'istio-ingress', name: 'gateway' } })),
      settings: {},
    },
    'envoy-gateway': {
      about: 'Envoy Gateway asks the service, by EnvoyExtensionPolicy.',
      file: 'envoy-gateway.yaml',
      manifests: envoyGateway(at('envoy-gateway')),
      settings: { destination_header: DESTINATION_KEY },
    },
    'inference-pool': {
      about: 'The service as the endpoint picker of an InferencePool.',
      file: 'inference-pool.yaml',
      manifests: inferencePool(at('gateway-api')),
      settings: { error_style: 'epp' },
    },
    'inference-pool-istio': {
      about: 'The same where the gateway is that of Istio.',
      file: 'inference-pool.yaml',
      manifests: [...inferencePool(at('gateway-api')), inferencePoolOnIstio(at('gateway-api', OWN_GATEWAY))],
      settings: { error_style: 'epp' },
    },
    standalone: {
      about: 'An Envoy beside the service, as a backend of any gateway or behind a load balancer.',
      file: 'envoy.yaml',
      manifests: standaloneEnvoy(options),
      settings: {},
    },
  };
}

/** Names of files follow the kinds: `PodDisruptionBudget` in `pod-disruption-budget.yaml`, all of RBAC in `rbac.yaml`. */
function byFile(manifests: readonly Manifest[]): ReadonlyMap<string, readonly Manifest[]> {
  const files = new Map<string, Manifest[]>();
  for (const one of manifests) {
    const kind = String(one['kind']);
    const rbac = String(one['apiVersion']).startsWith('rbac.');
    const name = rbac ? 'rbac' : kind.replace(/(?<!^)[A-Z]/g, '-$&').toLowerCase();
    files.set(`${name}.yaml`, [...(files.get(`${name}.yaml`) ?? []), one]);
  }
  return files;
}

function configMap(options: GatewayOptions, settings: Readonly<Record<string, unknown>>): Manifest {
  const { workload: base } = options;
  const all = workload({ ...base, config: { ...base.config, ...settings } });
  return all.filter((one) => one['kind'] === 'ConfigMap')[0] ?? {};
}

function kustomization(about: string, body: Readonly<Record<string, unknown>>): string {
  return commentedYaml({ '#': about, apiVersion: 'kustomize.config.k8s.io/v1beta1', kind: 'Kustomization', ...body });
}
