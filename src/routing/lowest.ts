/** Choice by lowest score, with scores in an array that is used again and again. Hot path. */
import { type Random, randomBelow } from '../util/random.ts';
import type { Worker } from '../workers/worker.ts';

/** Score of a worker that may not be chosen. */
export const OUT = -1;

/** `scores` itself, or a larger array where it has not as many places. */
export function roomFor(scores: Float64Array, places: number): Float64Array {
  return scores.length >= places ? scores : new Float64Array(places * 2);
}

/**
 * The worker with the lowest score that is not in `taken`; each of equal ones is as likely. Null when there is none.
 *
 * @param scores by place in `workers`, at least 0 or `OUT`, which anything else counts as; what stands behind them does not matter. Those taken
 *   become `OUT`
 */
export function lowest(
  scores: Float64Array,
  workers: readonly Worker[],
  taken: readonly Worker[],
  random: Random,
): Worker | null {
  for (const worker of taken) {
    const place = workers.indexOf(worker);
    if (place >= 0) scores[place] = OUT;
  }
  let least = OUT;
  let first = 0;
  let ties = 0;
  for (let place = 0; place < workers.length; place++) {
    const score = scores[place] ?? OUT;
    if (!(score >= 0) || (ties > 0 && score > least)) continue;
    if (ties === 0 || score < least) {
      least = score;
      first = place;
      ties = 0;
    }
    ties++;
  }
  if (ties === 0) return null;

  let skip = ties === 1 ? 0 : randomBelow(random, ties);
  let place = first;
  while (skip > 0) if (scores[++place] === least) skip--;
  return workers[place] ?? null;
}
