import type { Worker } from '../workers/worker.ts';

const byList = new WeakMap<readonly Worker[], ReadonlyMap<string, Worker>>();

/**
 * The workers of a list by their ids, made once for each list: those of pools keep their identity between changes of the
 * fleet. Hot path.
 */
export function workersById(workers: readonly Worker[]): ReadonlyMap<string, Worker> {
  let byId = byList.get(workers);
  if (byId === undefined) {
    byId = new Map(workers.map((worker) => [worker.id, worker]));
    byList.set(workers, byId);
  }
  return byId;
}
