/** From settings and the config file to the fleet. */
import { flagWorkers } from '../config/declared-workers.ts';
import type { Loaded, Settings } from '../config/load-settings.ts';
import type { DnsSource } from '../discovery/dns/dns-source.ts';
import { readDeclaration } from '../discovery/dns/name-pool.ts';
import type { Log } from '../telemetry/log.ts';
import { type BreakerRules, NEVER_OPENS } from '../workers/breaker.ts';
import type { HealthSettings } from '../workers/health-settings.ts';
import type { LoadMonitorOptions } from '../workers/load/load-monitor.ts';
import type { OverloadRule } from '../workers/load/overload.ts';
import type { Registry } from '../workers/registry.ts';
import type { RegistryOptions } from '../workers/registry-options.ts';
import type { WorkerSpec } from '../workers/worker-spec.ts';
import { schemeProblem, type WorkerScheme } from '../workers/worker-url.ts';

export function registryOptionsOf(settings: Settings): RegistryOptions {
  return {
    drainSettleMs: settings.drainSettleSecs * 1000,
    drainDeadlineMs: settings.drainDeadlineSecs * 1000,
    removeFailed: settings.removeUnhealthyWorkers || (settings.removeUnhealthyPods && 'kubernetes'),
    breaker: breakerRulesOf(settings),
    dpAware: settings.dpAware,
    disaggregated: settings.pdDisaggregation,
  };
}

export function loadOptionsOf(
  settings: Settings,
): Pick<LoadMonitorOptions, 'intervalMs' | 'staleIntervals' | 'overload'> {
  return {
    intervalMs: settings.loadMonitorInterval * 1000,
    staleIntervals: settings.staleReportIntervals,
    overload: overloadRuleOf(settings),
  };
}

export function healthSettingsOf(settings: Settings): HealthSettings {
  return {
    enabled: !settings.disableHealthCheck,
    endpoint: settings.healthCheckEndpoint,
    timeoutSecs: settings.healthCheckTimeoutSecs,
    intervalSecs: settings.healthCheckIntervalSecs,
    successThreshold: settings.healthSuccessThreshold,
    failureThreshold: settings.healthFailureThreshold,
  };
}

/** KV usage at which the bare switch takes a worker out (policies 2.2). */
const PROTECTED_USAGE = 0.9;

/** Either bound turns the protection on by itself; the switch sets that of usage where none is given. */
function overloadRuleOf(settings: Settings): OverloadRule {
  const { workerOverloadProtection, workerOverloadWaitingRequests, workerOverloadTokenUsage } = settings;
  return {
    waitingRequests: workerOverloadWaitingRequests,
    tokenUsage: workerOverloadTokenUsage ?? (workerOverloadProtection ? PROTECTED_USAGE : null),
  };
}

function breakerRulesOf(settings: Settings): BreakerRules {
  return {
    failureThreshold: settings.disableCircuitBreaker ? NEVER_OPENS : settings.cbFailureThreshold,
    successThreshold: settings.cbSuccessThreshold,
    openMs: settings.cbTimeoutDurationSecs * 1000,
  };
}

/** Where declared workers go: a name that stands for several to those who look it up. */
export interface DeclaredFleet {
  readonly registry: Registry;
  readonly names: Pick<DnsSource, 'replace'>;
}

/**
 * Makes the workers of the flags and of the config file what `loaded` says. Those of the admin API stay.
 *
 * @param schemes those that Envoy is configured for; a reload that brings a worker of another one leaves it out
 */
export function applyWorkers(fleet: DeclaredFleet, loaded: Loaded, schemes: ReadonlySet<WorkerScheme>, log: Log): void {
  const known = ({ url }: WorkerSpec): boolean => {
    const problem = schemeProblem(url, schemes);
    if (problem !== null) log.error('a worker is left out', { worker: url.id, reason: problem });
    return problem === null;
  };
  const tell = (source: 'flags' | 'file', inputs: readonly unknown[]): void => {
    // The settings were loaded with the workers checked, so that none is wrong here.
    const read = inputs.map(readDeclaration);
    const specs = read.flatMap((each) => (each.kind === 'worker' && known(each.spec) ? [each.spec] : []));
    const pools = read.flatMap((each) => (each.kind === 'pool' ? [each.pool] : []));
    const { conflicts } = fleet.registry.replaceSource(source, specs);
    for (const worker of [...conflicts, ...fleet.names.replace(source, pools)])
      log.warn('a worker is declared twice; the first declaration holds', { worker, source });
  };
  tell('flags', flagWorkers(loaded.settings));
  tell(
    'file',
    loaded.workers.map(({ value }) => value),
  );
}
