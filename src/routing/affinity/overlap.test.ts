import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeReporting } from '../../../test/support/load-report.ts';
import type { Worker } from '../../workers/worker.ts';
import { decayByBacklog, rankedGroup } from './overlap.ts';

/** Workers by their waiting uncached tokens; null: no report. */
function waiting(...tokens: readonly (number | null)[]): readonly Worker[] {
  return tokens.map((waitingUncachedTokens, i) =>
    makeReporting(`w${i}`, waitingUncachedTokens === null ? null : { waitingUncachedTokens }),
  );
}

/** Share of draws that each worker gets, by the places where the group changes. */
function shares(scores: readonly number[], temperature: number): number[] {
  const workers = waiting(...scores.map(() => null));
  const counts = scores.map(() => 0);
  const draws = 50_000;
  for (let i = 0; i < draws; i++) {
    const group = rankedGroup(workers, scores, temperature, () => (i + 0.5) / draws);
    for (const worker of group) counts[workers.indexOf(worker)]! += 1;
  }
  return counts.map((count) => count / draws);
}

describe('policies 1.6.4 step 1, overlap decay', () => {
  it('decay 1, block 16, 10 blocks: 10 blocks behind 320 tokens are worth less than 8 behind none', () => {
    const scores = [10, 8];
    decayByBacklog(scores, waiting(320, 0), 1, 16, 10);

    expect(scores[0]).toBeCloseTo(10 / 3, 10);
    expect(scores[1]).toBe(8);
  });

  it('counts from the holder with the least', () => {
    const scores = [1, 1];
    decayByBacklog(scores, waiting(160, 320), 1, 16, 10);

    expect(scores).toEqual([1, 0.5]);
  });

  it('leaves holders without a report as they are', () => {
    const scores = [1, 1, 1];
    decayByBacklog(scores, waiting(null, 320, 0), 2, 16, 10);

    expect(scores).toEqual([1, 0.2, 1]);
  });

  it('takes less than nothing for nothing', () => {
    const scores = [1, 1];
    decayByBacklog(scores, waiting(-160, 0), 1, 16, 10);

    expect(scores).toEqual([1, 1]);
  });
});

describe('policies 1.6.4 step 2, ranking', () => {
  it('keeps the group with exactly the highest score at temperature 0', () => {
    const workers = waiting(null, null, null, null);

    expect(rankedGroup(workers, [1, 2, 2, 2 - Number.EPSILON], 0, () => 0).map(({ id }) => id)).toEqual(['w1', 'w2']);
  });

  it.each([
    [[4, 2], 0.5, [0.881, 0.119]],
    [[4, 2], 1, [0.731, 0.269]],
    [[8, 4, 2], 0.5, [0.715, 0.188, 0.097]],
  ])('scores %j at temperature %d are drawn as %j', (scores, temperature, expected) => {
    for (const [i, share] of shares(scores, temperature).entries()) expect(share).toBeCloseTo(expected[i]!, 3);
  });

  it('is as good as the highest score near temperature 0', () => {
    expect(shares([4, 2, 3], 1e-4)).toEqual([1, 0, 0]);
  });

  it('keeps all of equal scores', () => {
    expect(shares([3, 3, 3], 0.5)).toEqual([1, 1, 1]);
  });

  it('draws one and keeps all that equal it', () => {
    const [first, second, third] = shares([4, 4, 2], 1);

    expect(second).toBe(first);
    expect(first! + third!).toBeCloseTo(1, 10);
    expect(first).toBeCloseTo((2 * Math.exp(0)) / (2 * Math.exp(0) + Math.exp(-1)), 3);
  });

  it('never leaves nobody of some holders', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 0, max: 100, noNaN: true }), { minLength: 1, maxLength: 8 }),
        fc.double({ min: 0, max: 10, noNaN: true }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (scores, temperature, draw) => {
          expect(rankedGroup(waiting(...scores), scores, Math.fround(temperature), () => draw).length).toBeGreaterThan(
            0,
          );
        },
      ),
    );
  });
});
