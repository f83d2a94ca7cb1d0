import { NO_WORKERS, type Worker } from '../../workers/worker.ts';
import { workersById } from '../workers-by-id.ts';

/** Those of the candidates that have one of the ids. Hot path. */
export function eligibleHolders(ids: readonly string[], candidates: readonly Worker[]): readonly Worker[] {
  if (ids.length === 0) return NO_WORKERS;
  const workers = workersById(candidates);
  const found: Worker[] = [];
  for (let i = 0; i < ids.length; i++) {
    const worker = workers.get(ids[i] ?? '');
    if (worker !== undefined) found.push(worker);
  }
  return found;
}
