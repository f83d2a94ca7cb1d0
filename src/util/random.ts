/** Source of randomness handed to pure code: uniform in [0, 1), as `Math.random`. */
export type Random = () => number;

/** Uniform integer in [0, bound). `bound` must be a positive integer. */
export function randomBelow(random: Random, bound: number): number {
  return Math.floor(random() * bound);
}

/** Randomness that can be looked at before it is drawn, which `Math.random` cannot. */
export interface Draws {
  readonly random: Random;
  /** Draws what `random` is going to draw, and leaves that as it is. */
  ahead(): Random;
}

/** Words of a seed of `createDraws`. */
export const SEED_WORDS = 4;
const RANGE = 2 ** 32;

/**
 * The generator xoshiro128++ of Blackman and Vigna (2018): multiples of 2^-32. For spreading requests, not for secrets.
 *
 * @param seed `SEED_WORDS` numbers, not all of them 0; copied
 */
export function createDraws(seed: Uint32Array): Draws {
  const state = seed.slice(0, SEED_WORDS);
  return { random: () => next(state) / RANGE, ahead: () => createDraws(state).random };
}

function next(state: Uint32Array): number {
  const a = state[0] ?? 0;
  const b = state[1] ?? 0;
  const c = (state[2] ?? 0) ^ a;
  const d = (state[3] ?? 0) ^ b;
  const drawn = (rotated(a + (state[3] ?? 0), 7) + a) >>> 0;
  state[0] = a ^ d;
  state[1] = b ^ c;
  state[2] = c ^ (b << 9);
  state[3] = rotated(d, 11);
  return drawn;
}

function rotated(word: number, by: number): number {
  return (word << by) | (word >>> (32 - by));
}
