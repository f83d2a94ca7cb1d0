/** From settings and the config file to the fleet. */
import type { Loaded, Settings } from '../config/load-settings.ts';
import type { Log } from '../telemetry/log.ts';
import type { HealthSettings } from '../workers/health-settings.ts';
import type { Registry } from '../workers/registry.ts';
import { parseWorkerSpec, type WorkerSpec } from '../workers/worker-spec.ts';

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

/** Makes the workers of the flags and of the config file what `loaded` says. Those of the admin API stay. */
export function applyWorkers(registry: Registry, loaded: Loaded, log: Log): void {
  tell(registry, 'flags', specsOf(loaded.settings.workerUrls.map((url) => ({ url }))), log);
  tell(registry, 'file', specsOf(loaded.workers.map((worker) => worker.value)), log);
}

function tell(registry: Registry, source: 'flags' | 'file', specs: readonly WorkerSpec[], log: Log): void {
  const { conflicts } = registry.replaceSource(source, specs);
  for (const worker of conflicts)
    log.warn('a worker is declared twice; the first declaration holds', { worker, source });
}

/** The settings were loaded with the workers checked, so that none is refused here. */
function specsOf(declared: readonly unknown[]): readonly WorkerSpec[] {
  return declared.map(parseWorkerSpec).flatMap((result) => (result.ok ? [result.spec] : []));
}
