import { envoyGateway } from './envoy-gateway.ts';
import { inferencePool } from './inference-pool.ts';
import { inferencePoolOnIstio } from './inference-pool-istio.ts';
import { istioGateway } from './istio.ts';
import { manifestYaml } from './manifest.ts';
import type { GatewayOptions } from './options.ts';
import { standaloneEnvoy } from './standalone.ts';

/** Stand-ins that the renderers take for plain values, and the template expressions they become. */
const NAMESPACE = 'xnamespacex';
const GATEWAY_NAMESPACE = 'xgatewaynamespacex';
const GATEWAY_NAME = 'xgatewaynamex';
const WORKERS_NAME = 'xworkersnamex';
const WORKERS_NAMESPACE = 'xworkersnamespacex';
const WORKERS_PORT = 64_999;
const POD_PORT = 64_998;

const EXPRESSIONS: readonly (readonly [string, string])[] = [
  [GATEWAY_NAMESPACE, '{{ .Values.gateway.namespace | default .Release.Namespace }}'],
  [NAMESPACE, '{{ .Release.Namespace }}'],
  [GATEWAY_NAME, '{{ .Values.gateway.name }}'],
  [WORKERS_NAMESPACE, '{{ .Values.workers.namespace | default .Release.Namespace }}'],
  [WORKERS_NAME, '{{ .Values.workers.service }}'],
  [String(WORKERS_PORT), '{{ .Values.workers.port }}'],
  [String(POD_PORT), '{{ .Values.discovery.port }}'],
  ['{xpodsx: xpodsx}', '{{ toJson .Values.gateway.podLabels }}'],
  ['{xselectorx: xselectorx}', '{{ toJson .Values.discovery.selector }}'],
];

/**
 * The files of the Helm chart that are made: manifests of each kind of gateway as template text, by their path in the
 * chart. What flags of Envoy shape is at its default there.
 */
export function helmFiles(options: GatewayOptions): ReadonlyMap<string, string> {
  const made: GatewayOptions = {
    ...options,
    workload: {
      ...options.workload,
      namespace: NAMESPACE,
      pods: { namespace: null, labels: { xselectorx: 'xselectorx' }, port: POD_PORT },
    },
    gateway: { namespace: GATEWAY_NAMESPACE, name: GATEWAY_NAME },
    gatewayPods: { xpodsx: 'xpodsx' },
    workers: { name: WORKERS_NAME, namespace: WORKERS_NAMESPACE, port: WORKERS_PORT },
  };
  const ofPool: GatewayOptions = { ...made, mode: 'gateway-api' };
  return new Map([
    ['files/istio.yaml', template(manifestYaml(istioGateway({ ...made, mode: 'istio' })))],
    ['files/envoy-gateway.yaml', template(envoyGatewayYaml({ ...made, mode: 'envoy-gateway' }))],
    ['files/inference-pool.yaml', template(manifestYaml(inferencePool(ofPool)))],
    [
      'files/inference-pool-istio.yaml',
      template(manifestYaml([...inferencePool(ofPool), inferencePoolOnIstio(ofPool)])),
    ],
    ['files/standalone.yaml', template(manifestYaml(standaloneEnvoy(made)))],
  ]);
}

/** The Gateway may be there already. */
function envoyGatewayYaml(options: GatewayOptions): string {
  const manifests = envoyGateway(options);
  const made = manifestYaml(manifests.filter(({ kind }) => kind === 'Gateway'));
  const rest = manifestYaml(manifests.filter(({ kind }) => kind !== 'Gateway'));
  return `{{- if .Values.gateway.create }}\n${made}---\n{{- end }}\n${rest}`;
}

function template(yaml: string): string {
  // Envoy's own %FORMATS% stay; nothing in the manifests has braces that Helm would read.
  let text = yaml;
  for (const [stand, expression] of EXPRESSIONS) text = text.replaceAll(stand, () => expression);
  return text;
}
