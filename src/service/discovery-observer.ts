import type { DiscoveryObserver, DiscoverySource } from '../discovery/source.ts';
import type { Log } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';

/** What sources of workers report, as metrics and log lines: an outage is one line, however often they try. */
export function discoveryObserver(metrics: Metrics, log: Log): DiscoveryObserver {
  const conflicts = new Map<DiscoverySource, ReadonlySet<string>>();
  const newConflicts = (source: DiscoverySource, ids: readonly string[]): readonly string[] => {
    const before = conflicts.get(source);
    conflicts.set(source, new Set(ids));
    return ids.filter((id) => before?.has(id) !== true);
  };
  return {
    event: (_source, event) => {
      metrics.discoveryEvents.cell(event).value += 1;
    },
    applied: (source, changes, found, durationMs) => {
      metrics.discoveryWorkers.cell(source).value = found;
      const { added, updated, removed } = changes;
      metrics.discoveryRegistrations.cell(source, 'success').value += added.length;
      metrics.discoveryDeregistrations.cell(source, 'reconciled').value += removed.length;
      if (added.length + updated.length + removed.length > 0) {
        metrics.discoverySyncDuration.cell(source).observe(durationMs / 1000);
      }
      for (const worker of newConflicts(source, changes.conflicts)) {
        metrics.discoveryRegistrations.cell(source, 'failed').value += 1;
        log.warn('a worker is declared twice; the first declaration holds', { worker, source });
      }
    },
    failed: (source, problem) => {
      metrics.discoveryFailures.cell(source).value += 1;
      log.debug('a source of workers could not be read', { source, reason: problem });
    },
    turned: (source, health, problem) => {
      metrics.discoveryUp.cell(source).value = health === 'live' ? 1 : 0;
      if (health === 'live') log.info('a source of workers is read', { source });
      else if (problem !== null) {
        const what = health === 'stale' ? '; what it said last holds' : '';
        for (const reason of problem.split('\n'))
          log.error(`a source of workers cannot be read${what}`, { source, reason });
      }
    },
    noted: (source, subject, reason) =>
      log.warn('a source of workers says something odd', { source, path: subject, reason }),
  };
}
