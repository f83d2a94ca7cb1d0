import type { Worker } from '../../workers/worker.ts';

/** By the list of candidates, which keeps its identity between changes of the fleet. */
const byId = new WeakMap<readonly Worker[], ReadonlyMap<string, Worker>>();

const NOBODY: readonly Worker[] = [];

/** Those of the candidates that have one of the ids. Hot path. */
export function eligibleHolders(ids: readonly string[], candidates: readonly Worker[]): readonly Worker[] {
  if (ids.length === 0) return NOBODY;
  let workers = byId.get(candidates);
  if (workers === undefined) {
    workers = new Map(candidates.map((worker) => [worker.id, worker]));
    byId.set(candidates, workers);
  }
  const found: Worker[] = [];
  for (let i = 0; i < ids.length; i++) {
    const worker = workers.get(ids[i] ?? '');
    if (worker !== undefined) found.push(worker);
  }
  return found;
}
