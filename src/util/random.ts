/** Source of randomness handed to pure code: uniform in [0, 1), as `Math.random`. */
export type Random = () => number;

/** Uniform integer in [0, bound). `bound` must be a positive integer. */
export function randomBelow(random: Random, bound: number): number {
  return Math.floor(random() * bound);
}
