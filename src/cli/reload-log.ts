import type { ChangedKey, ConfigChange } from '../config/reload.ts';
import { fileKey } from '../config/setting.ts';
import type { Log } from '../telemetry/log.ts';
import { hiddenHeaders, type KeySettings } from './bootstrap-options.ts';

/** Tells what a reload of the config file changes, by the keys of the file. */
export function logChange(log: Log, change: ConfigChange): void {
  const { changed, restartNeeded, envoyNeeded, workersLost } = change;
  const waiting = new Set([...restartNeeded, ...envoyNeeded]);
  const applied = changed.filter((key) => !waiting.has(key)).map(nameOf);
  const nothing = changed.length === 0 ? 'nothing changed' : 'no change applies at once';
  log.info('the configuration was read again', { reason: applied.join(', ') || nothing });
  if (workersLost > 0) {
    log.warn('the configuration file names no worker any more; all it had are removed', { count: workersLost });
  }
  for (const key of restartNeeded) log.warn('a changed setting waits for a restart', { path: nameOf(key) });
  for (const key of envoyNeeded) {
    log.warn("a changed setting waits for Envoy's configuration", { path: nameOf(key) });
  }
}

/** Warns when Envoy hides headers that are read now: keys in them are not seen until it is configured anew (decisions 29). */
export function logHidden(log: Log, before: KeySettings, after: KeySettings): void {
  const [was, wanted] = [before, after].map((settings) => hiddenHeaders(settings).join(', ') || 'none');
  if (was === wanted) return;
  log.warn("Envoy's configuration must be generated again: other headers are to be hidden from the service", {
    reason: `hidden so far: ${was}; to be hidden: ${wanted}`,
  });
}

/** Members of the policy object have no key of their own (decisions 16). */
function nameOf(key: ChangedKey): string {
  if (key === 'policyAssignmentMode') return 'policy.assignment_mode';
  if (key === 'policyEvictionInterval') return 'policy.eviction_interval';
  return fileKey(key);
}
