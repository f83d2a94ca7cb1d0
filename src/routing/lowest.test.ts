import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeWorker } from '../../test/support/fleet.ts';
import { lowest, OUT, roomFor } from './lowest.ts';

const workers = Array.from({ length: 6 }, (_, i) => makeWorker(`w${i}`));

describe('lowest', () => {
  const score = fc.constantFrom(OUT, 0, 1, 2.5, Number.POSITIVE_INFINITY);

  it('is one of those with the least, as likely as each other', () => {
    const scores = fc.array(score, { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(scores, fc.subarray(workers), (values, taken) => {
        const list = workers.slice(0, values.length);
        const open = list.filter((worker, i) => values[i] !== OUT && !taken.includes(worker));
        const least = Math.min(...open.map((worker) => values[list.indexOf(worker)]!));
        const equal = open.filter((worker) => values[list.indexOf(worker)] === least);
        const at = (draw: number) => lowest(Float64Array.from([...values, 0, 0]), list, taken, () => draw);
        const drawn = equal.map((_, i) => at((i + 0.5) / equal.length));

        expect(drawn).toEqual(equal);
        if (equal.length === 0) expect(at(0)).toBeNull();
      }),
    );
  });
});

describe('lowest of what is no score', () => {
  it.each([
    { scores: [Number.NaN, 1, 1], want: 'w2' },
    { scores: [1, Number.NaN, 2], want: 'w0' },
    { scores: [Number.NaN, Number.NaN], want: undefined },
    { scores: [Number.NEGATIVE_INFINITY, 3], want: 'w1' },
  ])('$scores: $want', ({ scores, want }) => {
    const list = workers.slice(0, scores.length);

    expect(lowest(Float64Array.from(scores), list, [], () => 0.9)?.id).toBe(want);
  });
});

describe('roomFor', () => {
  it('answers with the same array while it is large enough', () => {
    const scores = new Float64Array(4);

    expect(roomFor(scores, 4)).toBe(scores);
    expect(roomFor(scores, 5).length).toBeGreaterThanOrEqual(5);
  });
});
