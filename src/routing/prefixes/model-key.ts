import { NO_MODEL, type Pool } from '../../workers/snapshot.ts';
import type { Worker } from '../../workers/worker.ts';

/** Models with a memory of their own; far more than a fleet lists, and a bound all the same. */
export const MAX_MODELS = 1024;

/**
 * Under which model a prompt is remembered (policies 1.6.2 step 2): the pool's where the worker lists it, else the first one
 * the worker lists. Never a name that only a client brought up.
 *
 * @param worker the first eligible one
 */
export function modelKeyOf(pool: Pool, worker: Worker): string {
  const { models } = worker;
  return models.includes(pool.model) ? pool.model : (models[0] ?? NO_MODEL);
}
