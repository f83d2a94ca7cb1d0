/** Bounded load for pins (`--pin-load-factor`, sticky-sessions P8). Hot path, but only where the operator turned it on. */
import { NO_WORKERS, type Worker } from '../workers/worker.ts';
import { meanLoad } from './mean-load.ts';

/**
 * Where a key may go that is pinned to a worker with too much to do; empty when it stays.
 *
 * With `mean` the requests in flight per available worker, the pinned worker is hot above `factor` × mean, and another one
 * may take the key when it is at most at the mean with that request. So a key that moved stays until its new worker
 * climbed from the mean to `factor` × mean, and a fleet with less than one request per worker moves nothing.
 *
 * @param factor at least 1
 */
export function exitsOf(pinned: Worker, available: readonly Worker[], factor: number): readonly Worker[] {
  const mean = meanLoad(available);
  if (!(pinned.load.requests > factor * mean)) return NO_WORKERS;
  return available.filter((worker) => worker !== pinned && worker.load.requests + 1 <= mean);
}
