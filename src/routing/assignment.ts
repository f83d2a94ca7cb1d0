import { type Random, randomBelow } from '../util/random.ts';
import { NO_WORKERS, type Worker } from '../workers/worker.ts';

/** How a key without a usable worker gets one (sticky-sessions 3.2); `delegate` asks the configured policy. */
export const ASSIGNMENT_MODES = ['delegate', 'random', 'min_load', 'min_group'] as const;
export type AssignmentMode = (typeof ASSIGNMENT_MODES)[number];

/** The modes that need no policy. */
export type OwnAssignmentMode = Exclude<AssignmentMode, 'delegate'>;

/** Draws that may fall on a taken worker before the others are counted. Few are taken, so that the first one mostly holds. */
const DRAWS = 8;

/**
 * A worker by assignment mode: any (`random`), one with the fewest requests in flight (`min_load`), or one with the fewest
 * distinct keys in flight (`min_group`). Ties are broken evenly. Null when all candidates are taken. `random` costs the same
 * for any number of candidates. Hot path.
 */
export function assign(
  mode: OwnAssignmentMode,
  candidates: readonly Worker[],
  random: Random,
  taken: readonly Worker[] = NO_WORKERS,
): Worker | null {
  if (mode === 'random' && candidates.length > 1) {
    for (let i = 0; i < DRAWS; i++) {
      const worker = candidates[randomBelow(random, candidates.length)];
      if (worker !== undefined && !taken.includes(worker)) return worker;
    }
  }
  let least = Number.POSITIVE_INFINITY;
  let ties = 0;
  for (const worker of candidates) {
    if (taken.includes(worker)) continue;
    const load = loadBy(mode, worker);
    if (load < least) {
      least = load;
      ties = 0;
    }
    if (load === least) ties++;
  }
  if (ties === 0) return null;

  let skip = ties === 1 ? 0 : randomBelow(random, ties);
  for (const worker of candidates) {
    if (taken.includes(worker) || loadBy(mode, worker) !== least) continue;
    if (skip === 0) return worker;
    skip--;
  }
  return null;
}

/** What a mode goes by: the least is chosen. */
export function loadBy(mode: OwnAssignmentMode, worker: Worker): number {
  switch (mode) {
    case 'random':
      return 0;
    case 'min_load':
      return worker.load.requests;
    case 'min_group':
      return worker.load.distinctKeys;
  }
}
