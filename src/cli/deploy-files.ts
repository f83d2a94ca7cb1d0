import { loadSettings } from '../config/load-settings.ts';
import { helmFiles } from '../envoy/gateways/helm-files.ts';
import { kustomizeFiles } from '../envoy/gateways/kustomize.ts';
import type { GatewayOptions } from '../envoy/gateways/options.ts';
import { bootstrapOptions } from './bootstrap-options.ts';
import { OF_POD } from './gateway-options.ts';

const NAMESPACE = 'smg-envoy';
const PORT = 8000;

/** Manifests under `deploy/` that are made from the code: path in the repository, and text. */
export function deployFiles(): ReadonlyMap<string, string> {
  const options = defaults();
  const files = new Map<string, string>();
  for (const [path, text] of kustomizeFiles(options)) files.set(`deploy/kustomize/${path}`, text);
  for (const [path, text] of helmFiles(options)) files.set(`deploy/helm/smg-envoy/${path}`, text);
  return files;
}

/** Every flag at its default, workers that are pods labelled `app=vllm` in the namespace of the service. */
function defaults(): GatewayOptions {
  const flags = {
    mode: 'ext-proc',
    listen: '127.0.0.1:8080',
    picker: [],
    fail: 'open',
    adminListen: null,
    staticWorkers: false,
    envoyVersion: '1.38',
  };
  const loaded = loadSettings({ flags: [], env: {} });
  return {
    mode: 'istio',
    workload: {
      namespace: NAMESPACE,
      image: 'smg-envoy:local',
      config: {
        routing_key_override: true,
        health_check_interval_secs: 5,
        service_discovery: true,
        service_discovery_namespace: NAMESPACE,
        service_discovery_port: PORT,
        selector: ['app=vllm'],
        ...OF_POD,
      },
      pods: { namespace: NAMESPACE, labels: { app: 'vllm' }, port: PORT },
      shutdownGraceSecs: loaded.settings.shutdownGracePeriodSecs,
    },
    envoy: bootstrapOptions(flags, loaded),
    gateway: { namespace: NAMESPACE, name: 'gateway' },
    gatewayPods: { istio: 'ingressgateway' },
    workers: { namespace: NAMESPACE, name: 'workers', port: PORT },
  };
}
