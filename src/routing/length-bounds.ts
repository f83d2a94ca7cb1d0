/** Upper bounds of prompt lengths, one for each worker, ascending and inclusive; the last is infinite (policies 1.9). */

/** Lengths that the first bounds divide among the workers. */
const FIRST_RANGE = 4096;

export function firstBounds(workers: number): Float64Array {
  const gap = Math.max(1, Math.floor(FIRST_RANGE / workers));
  const bounds = Float64Array.from({ length: workers }, (_, i) => (i + 1) * gap - 1);
  bounds[workers - 1] = Number.POSITIVE_INFINITY;
  return bounds;
}

/**
 * Bounds by which each worker has about the same sum of lengths.
 *
 * @param sorted lengths, ascending
 * @param share what each worker should have
 */
export function evenBounds(sorted: Float64Array, share: number, workers: number): Float64Array {
  const bounds = new Float64Array(workers).fill(Number.POSITIVE_INFINITY);
  let lower = 0;
  let cursor = 0;
  for (let i = 0; i < workers - 1; i++) {
    let sum = 0;
    let length = 0;
    let reached = false;
    while (!reached && cursor < sorted.length) {
      length = sorted[cursor++] ?? 0;
      sum += length;
      reached = sum >= share;
    }
    const upper = reached && length > lower ? length : lower + share;
    bounds[i] = upper;
    lower = upper + 1;
  }
  return bounds;
}
