import type { PinStore } from '../pins/pin-store.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { NO_MODEL } from '../workers/snapshot.ts';
import type { SnapshotSource } from '../workers/snapshot-source.ts';
import type { Worker } from '../workers/worker.ts';
import type { BreakerState, WorkerStatus } from '../workers/worker-kinds.ts';

/** Values of `smg_worker_cb_state`. */
const BREAKER_VALUES: Readonly<Record<BreakerState, number>> = { closed: 0, open: 1, half_open: 2 };
/** Removed workers whose health and breaker are still told as -1; older ones are forgotten. */
const MAX_REMOVED = 1024;

/** Lets the gauges of the fleet be read from its snapshot at each scrape. Answers with the undo. */
export function bindFleetMetrics(metrics: Metrics, fleet: SnapshotSource): () => void {
  const known = new Set<string>();
  const removed = new Set<string>();

  const follow = (): void => {
    const present = fleet.current;
    for (const id of known) {
      if (present.byId(id) !== undefined) continue;
      known.delete(id);
      // An engine that has become its ranks is still there.
      if (!present.workers.some(({ url }) => url === id)) removed.add(id);
    }
    for (const { id } of present.workers) {
      known.add(id);
      removed.delete(id);
    }
    for (const id of removed) {
      if (removed.size <= MAX_REMOVED) break;
      removed.delete(id);
    }
  };

  follow();
  metrics.workerHealth.onScrape(() => {
    metrics.workerHealth.clear();
    for (const worker of fleet.current.workers) {
      metrics.workerHealth.cell(worker.id).value = worker.status === 'ready' ? 1 : 0;
    }
    for (const id of removed) metrics.workerHealth.cell(id).value = -1;
  });
  metrics.workerCbState.onScrape(() => {
    metrics.workerCbState.clear();
    for (const worker of fleet.current.workers) {
      metrics.workerCbState.cell(worker.id).value = BREAKER_VALUES[worker.breaker];
    }
    for (const id of removed) metrics.workerCbState.cell(id).value = -1;
  });
  metrics.workerRequestsActive.onScrape(() => {
    metrics.workerRequestsActive.clear();
    for (const worker of fleet.current.workers) {
      metrics.workerRequestsActive.cell(worker.id).value = worker.load.ownRequests;
    }
  });
  metrics.workerRoutingKeysActive.onScrape(() => {
    metrics.workerRoutingKeysActive.clear();
    for (const worker of fleet.current.workers) {
      metrics.workerRoutingKeysActive.cell(worker.id).value = worker.load.ownDistinctKeys;
    }
  });
  metrics.workersOverloaded.onScrape(() => countOverloaded(metrics, fleet.current.workers));
  metrics.workerPoolSize.onScrape(() => countPools(metrics, fleet.current.workers));
  metrics.workers.onScrape(() => countStatuses(metrics, fleet.current.workers));
  return fleet.subscribe(follow);
}

const WITHOUT_LIST: readonly string[] = [NO_MODEL];

function modelLabels({ models }: Worker): readonly string[] {
  return models.length === 0 ? WITHOUT_LIST : models;
}

function countPools(metrics: Metrics, workers: readonly Worker[]): void {
  metrics.workerPoolSize.clear();
  for (const worker of workers) {
    for (const model of modelLabels(worker)) metrics.workerPoolSize.cell(worker.type, 'http', model).value += 1;
  }
}

function countOverloaded(metrics: Metrics, workers: readonly Worker[]): void {
  metrics.workersOverloaded.clear();
  for (const worker of workers) {
    for (const model of modelLabels(worker)) metrics.workersOverloaded.cell(model).value += worker.overloaded ? 1 : 0;
  }
}

function countStatuses(metrics: Metrics, workers: readonly Worker[]): void {
  const counts: Record<WorkerStatus, number> = { pending: 0, ready: 0, not_ready: 0, failed: 0, draining: 0 };
  for (const worker of workers) counts[worker.status] += 1;
  for (const status of Object.keys(counts) as WorkerStatus[]) metrics.workers.cell(status).value = counts[status];
}

/** Lets the gauges of the pins be read from their store at each scrape. */
export function bindPinMetrics(metrics: Metrics, store: PinStore): void {
  const { kind } = store;
  metrics.manualCacheEntries.onScrape(() => {
    metrics.manualCacheEntries.cell().value = store.size;
  });
  metrics.pins.onScrape(() => {
    metrics.pins.cell(kind).value = store.size;
  });
  metrics.pinEvictions.onScrape(() => {
    metrics.pinEvictions.cell(kind).value = store.evicted;
  });
}
