import { flagWorkers } from '../config/declared-workers.ts';
import type { Loaded, Settings } from '../config/load-settings.ts';
import { isPoolUrl } from '../discovery/dns/name-pool.ts';
import {
  ADDRESS_FORM,
  type Address,
  isDnsName,
  parseAddress,
  parseTcpAddress,
  showAddress,
  type TcpAddress,
} from '../envoy/bootstrap/address.ts';
import {
  BOOTSTRAP_MODES,
  type BootstrapMode,
  type BootstrapOptions,
  type EnvoyTarget,
  type StaticHealthOptions,
  type StaticWorker,
  type UpstreamOptions,
  type WorkerTls,
} from '../envoy/bootstrap/options.ts';
import { serverName } from '../envoy/endpoints/server-name.ts';
import { workerStamp } from '../envoy/endpoints/worker-stamp.ts';
import { readPem, schemesOf } from '../service/upstream-of.ts';
import { AppError } from '../util/app-error.ts';
import { parseWorkerSpec, type WorkerSpec } from '../workers/worker-spec.ts';
import { isGrpc, isTls } from '../workers/worker-url.ts';
import { AUTHZ_BODY, wantsBodies } from './authz-body.ts';
import { type PickerTlsFlags, pickerTls } from './picker-tls-options.ts';

/** The flags of `envoy-config` that are not settings of the service, as they were written. */
export interface EnvoyFlags extends PickerTlsFlags {
  readonly mode: string;
  /** {@link AUTHZ_BODY}, `auto` when absent; of ext_authz only. */
  readonly authzBody?: string;
  readonly listen: string;
  /** Empty: the gRPC address of the settings. */
  readonly picker: readonly string[];
  /** Null: open, but closed in full duplex, where Envoy cannot do without the service once a body has come (envoy 4.6). */
  readonly fail: string | null;
  readonly adminListen: string | null;
  readonly staticWorkers: boolean;
  readonly envoyVersion: string;
}

/**
 * What shapes the bootstrap, from flags and settings.
 *
 * @throws AppError `invalid_configuration` for a flag that cannot be used
 */
export function bootstrapOptions(flags: EnvoyFlags, loaded: Loaded): BootstrapOptions {
  const { settings } = loaded;
  const header = settings.destinationHeader.toLowerCase();
  const addresses = pickers(flags.picker, settings);
  return {
    mode: bootstrapMode(flags.mode),
    listen: ipAddress('--listen', flags.listen),
    pickers: addresses,
    pickerTls: pickerTls(flags, addresses),
    nodeHttp2: settings.transport === 'grpc-js',
    failClosed: failsClosed(flags.fail ?? (flags.mode === 'ext-proc-full-duplex' ? 'closed' : 'open')),
    admin: adminAddress(flags),
    upstream: upstream(loaded),
    staticWorkers: flags.staticWorkers ? staticWorkers(loaded) : null,
    staticHealth: staticHealth(settings),
    envoy: envoyTarget(flags.envoyVersion),
    bodyLimitBytes: settings.envoyBodyLimit,
    retry: {
      attempts: settings.retryMaxRetries,
      initialBackoffMs: settings.retryInitialBackoffMs,
      maxBackoffMs: settings.retryMaxBackoffMs,
      onReset: settings.retryOnReset,
      connectFailureOnly: settings.disableRetries,
    },
    requestTimeoutSecs: loaded.source('requestTimeoutSecs') === 'default' ? null : settings.requestTimeoutSecs,
    hiddenHeaders: hiddenHeaders(settings),
    destinationHeader: header === 'auto' || header === 'off' ? null : header,
    stamp: settings.routedWorkerId !== 'off',
    dpAware: settings.dpAware,
    disaggregated: settings.pdDisaggregation,
    mirrorsPrefills: mirrorsPrefills(flags, settings),
    prefillTimeoutSecs: settings.pdPrefillTimeoutSecs,
    decisionHeader: settings.decisionHeader,
    authzBody: authzBody(flags.authzBody ?? 'auto', loaded),
  };
}

/** The prefill workers have to be known apart, which the service alone tells, and bodies to be changed, as with `service`. */
function mirrorsPrefills({ mode, staticWorkers }: EnvoyFlags, { pdDisaggregation, pdDispatch }: Settings): boolean {
  if (!pdDisaggregation || pdDispatch === 'header') return false;
  if (mode === 'ext-authz') refuse('--mode', mode, 'ext-proc, or --pd-dispatch header: ext_authz changes no bodies');
  if (pdDispatch === 'service') return false;
  if (mode !== 'ext-proc') refuse('--mode', mode, 'ext-proc, for --pd-dispatch mirror');
  if (staticWorkers) {
    const message = '--static-workers: expected workers by EDS, for --pd-dispatch mirror';
    throw new AppError('invalid_configuration', message);
  }
  return true;
}

function upstream(loaded: Loaded): UpstreamOptions {
  const { settings } = loaded;
  const schemes = [...schemesOf(loaded)];
  return {
    http2: settings.upstreamHttp2,
    tls: schemes.some(isTls) ? workerTls(settings) : null,
    grpc: schemes.some(isGrpc),
  };
}

/** One file is named, so that a new one counts; of several the texts are taken over, as Envoy takes one file only. */
function workerTls({ caCertPaths, clientCertPath: cert, clientKeyPath: key, workerTlsInsecure }: Settings): WorkerTls {
  const [first, ...more] = caCertPaths;
  const texts = (): string => caCertPaths.map((path) => readPem('--ca-cert-paths', path)).join('\n');
  const named = first === undefined ? null : { filename: first };
  return {
    authorities: more.length === 0 ? named : { inline_string: texts() },
    client: cert === null || key === null ? null : { cert, key },
    insecure: workerTlsInsecure,
  };
}

function staticHealth(settings: Settings): StaticHealthOptions | null {
  if (settings.disableHealthCheck) return null;
  return {
    path: settings.healthCheckEndpoint,
    timeoutSecs: settings.healthCheckTimeoutSecs,
    intervalSecs: settings.healthCheckIntervalSecs,
    successThreshold: settings.healthSuccessThreshold,
    failureThreshold: settings.healthFailureThreshold,
  };
}

function refuse(flag: string, value: string, allowed: string): never {
  throw new AppError('invalid_configuration', `${flag} ${value}: expected ${allowed}`);
}

function bootstrapMode(text: string): BootstrapMode {
  return (
    BOOTSTRAP_MODES.find((mode) => mode === text) ?? refuse('--mode', text, `one of ${BOOTSTRAP_MODES.join(', ')}`)
  );
}

function authzBody(text: string, loaded: Loaded): boolean {
  const choice = AUTHZ_BODY.find((each) => each === text) ?? refuse('--authz-body', text, AUTHZ_BODY.join(', '));
  return choice === 'auto' ? wantsBodies(loaded) : choice === 'on';
}

/** A listener needs an address: Envoy resolves no names there. */
function ipAddress(flag: string, text: string): TcpAddress {
  const address = parseTcpAddress(text);
  if (address === undefined || isDnsName(address)) return refuse(flag, text, 'IP:PORT, with IPv6 in brackets');
  return address;
}

function adminAddress({ adminListen, listen }: EnvoyFlags): TcpAddress | null {
  if (adminListen === null) return null;
  const address = ipAddress('--admin-listen', adminListen);
  if (adminListen === listen) return refuse('--admin-listen', adminListen, 'another address than --listen');
  return address;
}

function pickers(texts: readonly string[], settings: Settings): readonly Address[] {
  if (texts.length === 0) return [ownAddress(settings)];
  const addresses = texts.map((text) => parseAddress(text) ?? refuse('--picker', text, ADDRESS_FORM));
  if (addresses.some((address) => address.kind === 'unix') && addresses.some(isDnsName)) {
    const message = '--picker: names and Unix sockets do not go together in one Envoy cluster; use addresses';
    throw new AppError('invalid_configuration', message);
  }
  const shown = addresses.map(showAddress);
  const twice = shown.find((one, index) => shown.indexOf(one) !== index);
  if (twice !== undefined) return refuse('--picker', twice, 'each replica once');
  return addresses;
}

/** Where a service with these settings is reached from its own machine. */
function ownAddress(settings: Settings): Address {
  if (settings.grpcSocket !== null) return { kind: 'unix', path: settings.grpcSocket };
  if (settings.grpcPort === 0) return refuse('--grpc-port', '0', 'a port, or --picker with the one that was taken');
  const host = settings.grpcHost.replace(/^\[|\]$/g, '');
  const local = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return { kind: 'tcp', host: local, port: settings.grpcPort };
}

function failsClosed(text: string): boolean {
  if (text !== 'open' && text !== 'closed') return refuse('--fail', text, 'open or closed');
  return text === 'closed';
}

function envoyTarget(text: string): EnvoyTarget {
  const minor = Number(/^v?1\.(\d{1,3})(\.\d+)?$/.exec(text)?.[1] ?? Number.NaN);
  if (minor === 36) return '1.36';
  if (minor === 37) return '1.37';
  return minor >= 38 ? '1.38' : refuse('--envoy-version', text, '1.36, 1.37, 1.38 or a later 1.x');
}

/** The settings that say in which headers keys are looked for. */
export type KeySettings = Pick<
  Settings,
  | 'pdDisaggregation'
  | 'pdDispatch'
  | 'policy'
  | 'prefillPolicy'
  | 'decodePolicy'
  | 'implicitKeys'
  | 'routingKeySources'
  | 'routingKeyHeaders'
  | 'requestIdHeaders'
  | 'tenantHeader'
>;

/** Secrets that nothing needs are kept from the service (decisions 29). */
export function hiddenHeaders(settings: KeySettings): readonly string[] {
  const needed = new Set<string>(settings.requestIdHeaders);
  if (settings.routingKeySources.includes('headers')) for (const name of settings.routingKeyHeaders) needed.add(name);
  if (settings.tenantHeader !== null) needed.add(settings.tenantHeader);
  const { policy, prefillPolicy, decodePolicy } = settings;
  if ([policy, prefillPolicy, decodePolicy].includes('consistent_hashing'))
    for (const name of settings.implicitKeys) needed.add(name);
  if (settings.routingKeySources.some((source) => source.startsWith('cookie:'))) needed.add('cookie');
  // A prefill is asked for in the client's name.
  if (settings.pdDisaggregation && settings.pdDispatch === 'service') needed.add('authorization');
  const lower = new Set([...needed].map((name) => name.toLowerCase()));
  return ['authorization', 'cookie'].filter((name) => !lower.has(name));
}

function urlOf(worker: unknown): string {
  const { url } = typeof worker === 'object' && worker !== null && 'url' in worker ? worker : { url: '' };
  return typeof url === 'string' ? url : '';
}

function staticWorkers(loaded: Loaded): readonly StaticWorker[] {
  // Envoy alone would choose among all of them, and knows no types.
  const type = loaded.settings.pdDisaggregation ? 'decode' : 'regular';
  const names = [...loaded.settings.workerUrls, ...loaded.workers.map(({ value }) => urlOf(value))].filter(isPoolUrl);
  if (names.length > 0)
    refuse('--static-workers', names.join(' '), 'workers with addresses; those of DNS names come by EDS');
  const declared = [...specsOfFlags(loaded.settings), ...specsOfFile(loaded)];
  const specs = declared.filter(({ workerType }) => workerType === type);
  if (specs.length === 0) {
    throw new AppError('invalid_configuration', '--static-workers: give workers with --worker-urls or in --config');
  }
  const kind = loaded.settings.routedWorkerId;
  // Declared ranks of one engine are one endpoint.
  const engines = new Map(specs.map((spec) => [spec.url.base, spec]));
  return [...engines.values()].map(({ url, name }) => ({
    address: { kind: 'tcp', host: url.host, port: url.port },
    id: url.base,
    stamp: workerStamp({ url: url.base, name: name ?? url.base, rank: null }, kind, null),
    tlsName: serverName(url.base),
    grpc: isGrpc(url.scheme),
  }));
}

// Both lists were checked when the settings were loaded: what cannot be read is not in them.
function specsOfFlags(settings: Settings): WorkerSpec[] {
  return flagWorkers(settings).flatMap((worker) => {
    const result = parseWorkerSpec(worker);
    return result.ok ? [result.spec] : [];
  });
}

function specsOfFile(loaded: Loaded): WorkerSpec[] {
  return loaded.workers.flatMap((worker) => {
    const result = parseWorkerSpec(worker.value);
    return result.ok ? [result.spec] : [];
  });
}
