import { parse } from 'yaml';
import type { Loaded } from '../config/load-settings.ts';
import { fileKey, flagName } from '../config/setting.ts';
import { SETTINGS, type SettingKey, settingOf } from '../config/settings-table.ts';
import type { BootstrapOptions } from '../envoy/bootstrap/options.ts';
import type {
  GatewayMode,
  GatewayOptions,
  Labels,
  PodDiscovery,
  Reference,
  ServicePort,
} from '../envoy/gateways/options.ts';
import { GRPC_PORT, METRICS_PORT } from '../envoy/gateways/workload.ts';
import { DESTINATION_KEY } from '../envoy/names.ts';
import { AppError } from '../util/app-error.ts';

/** The flags of `envoy-config` for gateways, as they were written. */
export interface GatewayFlags {
  readonly namespace: string;
  readonly image: string;
  /** Null: the default of the mode. */
  readonly gateway: string | null;
  readonly gatewaySelector: string;
  readonly workerService: string;
}

/** Settings that say where a process runs: in a pod they are what the manifests need. */
const OF_THE_POD: ReadonlySet<string> = new Set([
  'config',
  'grpcHost',
  'grpcPort',
  'grpcSocket',
  'adminHost',
  'adminPort',
  'prometheusHost',
  'prometheusPort',
]);

/**
 * What shapes the manifests, from flags and settings.
 *
 * @param readText text of the config file, to be taken over as it is
 * @throws AppError `invalid_configuration` for a flag that cannot be used
 */
export function gatewayOptions(
  mode: GatewayMode,
  flags: GatewayFlags,
  loaded: Loaded,
  envoy: BootstrapOptions,
  readText: (path: string) => string,
): GatewayOptions {
  const { settings } = loaded;
  const namespace = name('--namespace', flags.namespace);
  refuseNamedStamp(mode, settings.routedWorkerId);
  refuseSchemes(mode, envoy);
  refuseMirror(mode, envoy);
  refuseTls(mode, loaded);
  refusePrefills(mode, loaded);
  return {
    mode,
    workload: {
      namespace,
      image: flags.image,
      config: { ...serviceConfig(loaded, readText), ...ofMode(mode, loaded, envoy), ...OF_POD },
      pods: podDiscovery(mode, loaded),
      shutdownGraceSecs: settings.shutdownGracePeriodSecs,
    },
    envoy,
    gateway: gateway(mode, flags.gateway, namespace),
    gatewayPods: labels('--gateway-selector', flags.gatewaySelector.split(',')),
    workers: servicePort(flags.workerService, namespace),
  };
}

/** What the manifests rely on in the settings of a pod. */
export const OF_POD = {
  grpc_host: '0.0.0.0',
  grpc_port: GRPC_PORT,
  prometheus_host: '0.0.0.0',
  prometheus_port: METRICS_PORT,
  log_json: true,
};

function refuse(flag: string, value: string, allowed: string): never {
  throw new AppError('invalid_configuration', `${flag} ${value}: expected ${allowed}`);
}

/** A name of Kubernetes (RFC 1123). */
function name(flag: string, text: string): string {
  if (/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(text)) return text;
  return refuse(flag, text, 'a name of lower-case letters, digits and dashes');
}

function gateway(mode: GatewayMode, text: string | null, namespace: string): Reference {
  if (text === null)
    return mode === 'istio' ? { namespace: 'istio-ingress', name: 'gateway' } : { namespace, name: 'gateway' };
  const [first = '', second, ...more] = text.split('/');
  if (second === undefined || more.length > 0) return refuse('--gateway', text, 'NAMESPACE/NAME');
  return { namespace: name('--gateway', first), name: name('--gateway', second) };
}

function servicePort(text: string, namespace: string): ServicePort {
  const parts = /^([a-z0-9-]+)(?:\.([a-z0-9-]+))?:(\d{1,5})$/.exec(text);
  const port = Number(parts?.[3]);
  if (parts?.[1] === undefined || !(port >= 1 && port <= 65_535)) {
    return refuse('--worker-service', text, 'NAME:PORT or NAME.NAMESPACE:PORT');
  }
  return { name: parts[1], namespace: parts[2] ?? namespace, port };
}

function labels(flag: string, pairs: readonly string[]): Labels {
  const made: Record<string, string> = {};
  for (const pair of pairs) {
    const [key, value] = pair.split('=', 2);
    if (!key || !value) return refuse(flag, pairs.join(','), 'key=value[,key=value…]');
    made[key] = value;
  }
  return made;
}

function podDiscovery(mode: GatewayMode, { settings }: Loaded): PodDiscovery | null {
  if (!settings.serviceDiscovery) {
    if (mode !== 'gateway-api') return null;
    throw new AppError(
      'invalid_configuration',
      '--mode gateway-api: give the pods of the pool with --service-discovery, --selector and --service-discovery-port',
    );
  }
  return {
    namespace: settings.serviceDiscoveryNamespace,
    labels: podLabels(mode, settings),
    port: settings.serviceDiscoveryPort,
  };
}

/** Labels of the pods that requests go to. */
function podLabels(mode: GatewayMode, { pdDisaggregation, selector, decodeSelector }: Loaded['settings']): Labels {
  if (!pdDisaggregation) return labels('--selector', selector);
  if (mode === 'gateway-api' && decodeSelector.length === 0) {
    const message = '--mode gateway-api: give the labels of the decode pods with --decode-selector';
    throw new AppError('invalid_configuration', message);
  }
  return labels('--decode-selector', decodeSelector);
}

/** In Istio the endpoints are istiod's, which have an address and no name. */
function refuseNamedStamp(mode: GatewayMode, kind: string): void {
  if (mode === 'istio' && kind !== 'url' && kind !== 'off') refuse('--routed-worker-id', kind, 'url or off with Istio');
}

/** The cluster of the prefill workers is no part of the manifests. */
function refuseMirror(mode: GatewayMode, { mirrorsPrefills }: BootstrapOptions): void {
  if (!mirrorsPrefills) return;
  throw new AppError('invalid_configuration', `--pd-dispatch mirror: not with --mode ${mode}`);
}

/** The manifests mount no certificates, and the gateway would call in plain text. */
function refuseTls(mode: GatewayMode, { settings }: Loaded): void {
  if (settings.tlsCertPath === null) return;
  throw new AppError(
    'invalid_configuration',
    `--tls-cert-path: not with --mode ${mode}, whose manifests call in plain text`,
  );
}

/** Envoy Gateway has no field for the time that a prefill takes (envoy 10.5, 16.2). */
function refusePrefills(mode: GatewayMode, { settings }: Loaded): void {
  if (mode !== 'envoy-gateway' || !settings.pdDisaggregation || settings.pdDispatch !== 'service') return;
  throw new AppError(
    'invalid_configuration',
    '--pd-dispatch service: not with --mode envoy-gateway, where nothing sets max_message_timeout and a prefill would have 5 s; take --pd-dispatch header, or an Envoy with the bootstrap of --mode ext-proc',
  );
}

/** TLS towards workers is the gateway's to configure, and a cluster for gRPC alone is nothing it has. */
function refuseSchemes(mode: GatewayMode, { upstream }: BootstrapOptions): void {
  if (upstream.tls === null && !upstream.grpc) return;
  const message = `--mode ${mode}: only http:// workers; https, grpc and grpcs are for Envoys of the generated bootstrap`;
  throw new AppError('invalid_configuration', message);
}

/** What the gateway needs of the service, unless the operator says otherwise. */
function ofMode(mode: GatewayMode, loaded: Loaded, envoy: BootstrapOptions): Record<string, unknown> {
  const own: Record<string, unknown> = {};
  if (mode === 'envoy-gateway') own['destination_header'] = envoy.destinationHeader ?? DESTINATION_KEY;
  if (mode === 'gateway-api' && loaded.source('errorStyle') === 'default') own['error_style'] = 'epp';
  return own;
}

/** The config file, with what flags and environment say instead of it. */
function serviceConfig(loaded: Loaded, readText: (path: string) => string): Record<string, unknown> {
  const { settings } = loaded;
  const made: Record<string, unknown> = settings.config === null ? {} : fileOf(readText(settings.config));
  for (const key of Object.keys(SETTINGS) as SettingKey[]) {
    const source = loaded.source(key);
    if (source === 'default' || OF_THE_POD.has(key) || !(key in settings)) continue;
    const value = settings[key as keyof typeof settings];
    if (isSecret(key, value)) refuseSecret(key);
    if (source !== 'file') made[fileKey(key)] = value;
  }
  if (loaded.source('routingKeyOrder') !== 'default') {
    delete made['routing_key_order'];
    made['routing_key_sources'] = settings.routingKeySources;
  }
  for (const key of OF_THE_POD) delete made[fileKey(key)];
  return made;
}

function isSecret(key: SettingKey, value: unknown): boolean {
  const { mask, type } = settingOf(key);
  if (mask === undefined) return false;
  const shown = type.show(value);
  return mask(shown) !== shown;
}

/** What the file holds; it was checked when the settings were loaded. */
function fileOf(text: string): Record<string, unknown> {
  const data: unknown = parse(text);
  return typeof data === 'object' && data !== null ? { ...data } : {};
}

function refuseSecret(key: SettingKey): never {
  const message = `${flagName(key)}: a secret does not belong into a manifest; put it as a variable into the Secret smg-envoy`;
  throw new AppError('invalid_configuration', message);
}
