import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createDraws, randomBelow } from './random.ts';

const seeds = fc.uint32Array({ minLength: 4, maxLength: 4 }).filter((words) => words.some((word) => word !== 0));

describe('createDraws', () => {
  it('draws as xoshiro128++ does', () => {
    // By the generator's definition with the state 1, 2, 3, 4: rotl(1 + 4, 7) + 1 is the first one.
    const { random } = createDraws(Uint32Array.of(1, 2, 3, 4));

    expect(Array.from({ length: 4 }, () => random() * 2 ** 32)).toEqual(reference([1n, 2n, 3n, 4n], 4));
    expect(reference([1n, 2n, 3n, 4n], 1)).toEqual([641]);
  });

  it('draws as a plain reading of its definition, from any seed', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const { random } = createDraws(seed);
        const drawn = Array.from({ length: 20 }, () => random() * 2 ** 32);

        expect(drawn).toEqual(reference([...seed].map(BigInt), 20));
      }),
    );
  });

  it('tells ahead what it is going to draw, as often as it is asked', () => {
    fc.assert(
      fc.property(seeds, fc.nat(20), (seed, drawn) => {
        const draws = createDraws(seed);
        for (let i = 0; i < drawn; i++) draws.random();
        const [one, two] = [draws.ahead(), draws.ahead()];
        const told = Array.from({ length: 5 }, () => one());

        expect(Array.from({ length: 5 }, () => two())).toEqual(told);
        expect(Array.from({ length: 5 }, () => draws.random())).toEqual(told);
      }),
    );
  });

  it('spreads evenly', () => {
    const { random } = createDraws(Uint32Array.of(7, 8, 9, 10));
    const counts = new Array<number>(10).fill(0);
    for (let i = 0; i < 100_000; i++) counts[randomBelow(random, 10)]! += 1;

    // Six standard deviations of a count.
    for (const count of counts) expect(Math.abs(count - 10_000)).toBeLessThan(600);
  });
});

/** Draws by the definition, in whole numbers. */
function reference(state: bigint[], count: number): number[] {
  const mask = 0xffff_ffffn;
  const rotl = (x: bigint, k: bigint) => ((x << k) | (x >> (32n - k))) & mask;
  const s = [...state];
  return Array.from({ length: count }, () => {
    const result = (rotl((s[0]! + s[3]!) & mask, 7n) + s[0]!) & mask;
    const t = (s[1]! << 9n) & mask;
    s[2]! ^= s[0]!;
    s[3]! ^= s[1]!;
    s[1]! ^= s[2]!;
    s[0]! ^= s[3]!;
    s[2]! ^= t;
    s[3] = rotl(s[3]!, 11n);
    return Number(result);
  });
}
