/** Whom newer releases of SMG ask when every worker of a model is overloaded (smg-observed 2 and 6). */
import type { Pool } from '../workers/snapshot.ts';
import { isUp, type Worker } from '../workers/worker.ts';

/** Workers that nothing but their load keeps from being chosen. */
export function pastVeto({ members }: Pool): readonly Worker[] {
  return members.filter((worker) => worker.overloaded && isUp(worker));
}
