import type { Log } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { FleetObserver } from '../workers/fleet-observer.ts';

/** Counts probes, and logs each change of the fleet once. */
export function createFleetReport(metrics: Metrics, log: Log): FleetObserver {
  return {
    probed: (worker, ok) => {
      metrics.workerHealthChecks.cell(worker.type, ok ? 'success' : 'failure').value += 1;
    },
    statusChanged: (worker, previous) => {
      const level = worker.status === 'ready' || worker.status === 'draining' ? 'info' : 'warn';
      log[level](`worker went from ${previous} to ${worker.status}`, { worker: worker.id, status: worker.status });
    },
    added: (worker) => log.info('worker added', { worker: worker.id, source: worker.source }),
    removed: (worker) => log.info('worker removed', { worker: worker.id, source: worker.source }),
  };
}
