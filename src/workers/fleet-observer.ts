import type { Worker } from './worker.ts';
import type { BreakerState, WorkerStatus } from './worker-kinds.ts';

/** Is told what happens in the fleet, for counting and logging. None of these may throw. */
export interface FleetObserver {
  /** A health probe was answered, or was not. */
  probed(worker: Worker, ok: boolean): void;
  /** The worker shows another status than `previous`. */
  statusChanged(worker: Worker, previous: WorkerStatus): void;
  /** The worker's circuit breaker is in another state than `previous`. */
  breakerChanged(worker: Worker, previous: BreakerState): void;
  /**
   * The engine of a worker was asked how many data-parallel ranks it has.
   *
   * @param size 1 or more; null when it tells none
   */
  ranksTold(worker: Worker, size: number | null): void;
  /** The worker is in the fleet from now on. */
  added(worker: Worker): void;
  /** The worker has left the fleet. */
  removed(worker: Worker): void;
}

export const SILENT_OBSERVER: FleetObserver = {
  probed: () => {},
  statusChanged: () => {},
  breakerChanged: () => {},
  ranksTold: () => {},
  added: () => {},
  removed: () => {},
};
