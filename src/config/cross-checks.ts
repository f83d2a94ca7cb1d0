import type { DerivedSettings } from './derived-settings.ts';
import { discoveryProblems, findsWorkers } from './discovery-checks.ts';
import type { DeclaredWorker } from './from-file.ts';
import type { Given } from './given.ts';
import { pairProblems } from './pair-checks.ts';
import { flagName } from './setting.ts';
import { type AnyKey, type SettingValues, settingOf } from './settings-table.ts';
import { sharedProblems } from './shared-checks.ts';

/** Checks that another part of the program knows how to make. */
export interface Checks {
  /** What is wrong with the URL of a worker, named in the text; null when nothing is. */
  readonly workerUrl?: (url: string, dpAware: boolean) => string | null;
  /** What is wrong with a worker of the config file. */
  readonly worker?: (value: unknown, dpAware: boolean) => readonly WorkerProblem[];
}

export interface WorkerProblem {
  /** Where in the worker, empty for the whole. */
  readonly path: readonly (string | number)[];
  /** Names the field, the value and what is allowed. */
  readonly message: string;
}

export interface CrossInput {
  readonly values: SettingValues;
  readonly derived: DerivedSettings;
  readonly given: ReadonlyMap<AnyKey, Given>;
  readonly ofPolicy: ReadonlyMap<AnyKey, Given>;
  readonly workers: readonly DeclaredWorker[];
  readonly checks: Checks;
  readonly problems: string[];
}

/** Rules that look at more than one setting. */
export function crossCheck(input: CrossInput): void {
  const { values, derived, given, problems } = input;
  const name = (key: AnyKey): string => given.get(key)?.name ?? flagName(key);
  const asked = (key: AnyKey): boolean => given.has(key) && given.get(key)?.value !== settingOf(key).default;
  const anyValue = (key: AnyKey): unknown => given.get(key)?.value ?? settingOf(key).default;

  if (given.has('routingKeyOrder') && given.has('routingKeySources')) {
    problems.push(`${name('routingKeyOrder')} and ${name('routingKeySources')} say the same thing: give one of them`);
  }
  if (values.policy === 'cache_aware' && derived.policyEvictionInterval === 0) {
    const at = input.ofPolicy.get('evictionInterval')?.name ?? name('evictionInterval');
    problems.push(`${at} 0: policy cache_aware needs an interval above 0`);
  }
  problems.push(...discoveryProblems(values, anyValue('pdDisaggregation') === true, name));
  problems.push(...pairProblems(values, name));
  problems.push(...sharedProblems(values, asked, name));
  // With no worker at all, or with a source of workers, others are still to come (decisions 19).
  if (values.policy === 'power_of_two' && values.workerUrls.length === 1 && !findsWorkers(values)) {
    problems.push(`${name('policy')} power_of_two: needs at least two workers, and there is one`);
  }
  if (anyValue('cacheIndex') === 'hash' && (anyValue('cacheBoundaries') as readonly number[]).length === 0) {
    problems.push(`${name('cacheIndex')} hash: needs ${flagName('cacheBoundaries')}`);
  }
  if (values.retryMaxBackoffMs < values.retryInitialBackoffMs) {
    problems.push(
      `${name('retryMaxBackoffMs')} ${values.retryMaxBackoffMs}: expected at least ${flagName('retryInitialBackoffMs')}, which is ${values.retryInitialBackoffMs}`,
    );
  }
  const socket = given.get('grpcSocket');
  for (const key of ['grpcHost', 'grpcPort'] as const) {
    const tcp = given.get(key);
    if (socket !== undefined && socket.value !== null && tcp?.source === socket.source) {
      problems.push(`${name('grpcSocket')} and ${tcp.name} exclude each other`);
    }
  }
  for (const [one, other] of PAIRS) {
    if (anyValue(one) !== null && anyValue(other) === null) problems.push(`${name(one)} needs ${flagName(other)}`);
  }
  if (!isLoopback(values.adminHost) && values.controlPlaneApiKeys.length === 0 && !values.adminInsecure) {
    problems.push(
      `${name('adminHost')} ${values.adminHost}: an admin API off loopback needs --control-plane-api-keys, or --admin-insecure to go without`,
    );
  }
  checkWorkers(input);
}

const PAIRS = [
  ['tlsCertPath', 'tlsKeyPath'],
  ['tlsKeyPath', 'tlsCertPath'],
  ['tlsClientCaPath', 'tlsCertPath'],
  ['clientCertPath', 'clientKeyPath'],
  ['clientKeyPath', 'clientCertPath'],
] as const;

function checkWorkers({ values, given, workers, checks, problems }: CrossInput): void {
  for (const key of ['workerUrls', 'prefill', 'decode'] as const) {
    const name = given.get(key)?.name ?? flagName(key);
    for (const word of values[key]) {
      const problem = key === 'prefill' && !word.includes('://') ? null : checks.workerUrl?.(word, values.dpAware);
      if (typeof problem === 'string') problems.push(`${name}: ${problem}`);
    }
  }
  for (const worker of workers) {
    for (const { path, message } of checks.worker?.(worker.data, values.dpAware) ?? [])
      problems.push(`${worker.at(path)}: ${message}`);
  }
}

/** True for an address that only this machine reaches. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '').toLowerCase();
  return bare === 'localhost' || bare === '::1' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(bare);
}
