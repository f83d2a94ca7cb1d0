import type { Worker } from '../workers/worker.ts';

/** Requests in flight per worker; NaN without workers. Hot path. */
export function meanLoad(workers: readonly Worker[]): number {
  let sum = 0;
  for (let i = 0; i < workers.length; i++) sum += workers[i]?.load.requests ?? 0;
  return sum / workers.length;
}
