import { existsSync } from 'node:fs';
import type { Loaded, Settings } from '../config/load-settings.ts';
import { parseAddress, showAddress } from '../envoy/bootstrap/address.ts';
import { AGENT_HEADERS, ALWAYS_READ, type CheckSettings, NEWEST_ENVOY_MINOR } from '../envoy/check/check-settings.ts';
import { MORE_TIME_MARGIN_SECS } from '../envoy/names.ts';
import { receiveLimitBytes } from '../service/receive-limit.ts';
import { AppError } from '../util/app-error.ts';
import { bodyReason } from './authz-body.ts';
import { hiddenHeaders } from './bootstrap-options.ts';

/** The flags of `check` that say what Envoy looks like. */
export interface CheckFlags {
  /** Empty: the gRPC address of the settings. */
  readonly picker: readonly string[];
  /** Null: the newest one known. */
  readonly envoyVersion: string | null;
}

/**
 * What an Envoy configuration is judged by.
 *
 * @throws AppError `invalid_configuration` for a flag that cannot be used
 */
export function checkSettings(flags: CheckFlags, loaded: Loaded): CheckSettings {
  const { settings } = loaded;
  const dispatch = pdDispatch(settings);
  return {
    bodyReason: bodyReason(loaded) ?? (dispatch === 'service' ? 'the service sends the prefill of a request' : null),
    readHeaders: readHeaders(settings),
    hiddenHeaders: hiddenHeaders(settings),
    strictTargets: [settings.policy, settings.prefillPolicy, settings.decodePolicy].includes('consistent_hashing'),
    destinationHeader: settings.destinationHeader.toLowerCase(),
    bodyLimitBytes: settings.envoyBodyLimit,
    receiveLimitBytes: receiveLimitBytes(settings),
    fallbacks: settings.fallbacks,
    attempts: settings.retryMaxRetries,
    repeatsOnReset: settings.retryOnReset,
    requestTimeoutSecs: loaded.source('requestTimeoutSecs') === 'default' ? null : settings.requestTimeoutSecs,
    namesWorkers: settings.routedWorkerId !== 'off',
    healthChecks: !settings.disableHealthCheck,
    pdDispatch: dispatch,
    prefillSecs: settings.pdPrefillTimeoutSecs + MORE_TIME_MARGIN_SECS,
    sharedStore: settings.pinStore !== 'memory',
    nodeHttp2: settings.transport === 'grpc-js',
    pickers: pickers(flags.picker, settings),
    envoyMinor: envoyMinor(flags.envoyVersion),
    fileExists: existsSync,
  };
}

function readHeaders(settings: Settings): readonly string[] {
  const { routingKeySources, routingKeyHeaders, implicitKeys, policy, tenantHeader } = settings;
  const names = new Set(ALWAYS_READ);
  for (const source of routingKeySources) {
    if (source === 'headers') for (const name of routingKeyHeaders) names.add(name);
    if (source === 'agents') for (const name of AGENT_HEADERS) names.add(name);
    if (source.startsWith('cookie:')) names.add('cookie');
  }
  if (policy === 'consistent_hashing') for (const name of implicitKeys) names.add(name);
  if (tenantHeader !== null) names.add(tenantHeader);
  return [...names].map((name) => name.toLowerCase());
}

function pdDispatch({ pdDisaggregation, pdDispatch: dispatch }: Settings): CheckSettings['pdDispatch'] {
  return pdDisaggregation ? dispatch : null;
}

function pickers(texts: readonly string[], { grpcSocket, grpcHost, grpcPort }: Settings): readonly string[] {
  if (texts.length === 0) {
    if (grpcSocket !== null) return [`unix:${grpcSocket}`];
    const host = grpcHost.replace(/^\[|\]$/g, '');
    return [showAddress({ kind: 'tcp', host, port: grpcPort })];
  }
  return texts.map((text) => {
    const address = parseAddress(text);
    if (address !== undefined) return showAddress(address);
    throw new AppError('invalid_configuration', `--picker ${text}: expected HOST:PORT, [IPV6]:PORT or unix:PATH`);
  });
}

/** Older ones lack what the service needs of Envoy. */
const OLDEST_ENVOY_MINOR = 34;

function envoyMinor(text: string | null): number {
  if (text === null) return NEWEST_ENVOY_MINOR;
  const minor = Number(/^v?1\.(\d{1,3})(\.\d+)?$/.exec(text)?.[1] ?? Number.NaN);
  if (minor >= OLDEST_ENVOY_MINOR) return minor;
  throw new AppError(
    'invalid_configuration',
    `--envoy-version ${text}: expected 1.${OLDEST_ENVOY_MINOR} or a later 1.x`,
  );
}
