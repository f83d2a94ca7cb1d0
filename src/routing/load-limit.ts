import type { Worker } from '../workers/worker.ts';
import type { PrefixHashParameters } from './policy-parameters.ts';

/** Most requests in flight with which a worker passes the load check of `prefix_hash` (policies 1.7). Hot path. */
export function loadLimit(workers: readonly Worker[], parameters: PrefixHashParameters): number {
  let total = 0;
  for (const worker of workers) total += worker.load.requests;
  if (total === 0) return Number.POSITIVE_INFINITY;
  const mean = (total + 1) / workers.length;
  return Math.max(mean * parameters.loadFactor, mean + parameters.balanceAbsThreshold);
}
