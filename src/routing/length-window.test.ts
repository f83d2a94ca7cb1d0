import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LengthWindow } from './length-window.ts';

describe('LengthWindow', () => {
  it('counts what is not older than the interval', () => {
    const window = new LengthWindow(100);
    const tally = { sum: 0 };
    window.add(5, 0, tally);
    window.add(7, 50, tally);

    window.expire(100);
    expect([window.size, window.total, tally.sum]).toEqual([2, 12, 12]);

    window.expire(101);
    expect([window.size, window.total, tally.sum]).toEqual([1, 7, 7]);
  });

  it('lets the oldest go when there are more than 4096', () => {
    const window = new LengthWindow(100);
    const tally = { sum: 0 };
    for (let i = 0; i < 9000; i++) window.add(i < 4904 ? 1000 : 1, 0, tally);

    expect([window.size, window.total, tally.sum]).toEqual([4096, 4096, 4096]);
    expect(window.sortedLengths()).toEqual(new Float64Array(4096).fill(1));
  });

  it('agrees with a plain list', () => {
    const step = fc.record({ length: fc.nat(1000), wait: fc.nat(60), of: fc.nat(2) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
        const window = new LengthWindow(100);
        const tallies = [{ sum: 0 }, { sum: 0 }, { sum: 0 }];
        let list: { length: number; at: number; of: number }[] = [];
        let now = 0;
        for (const { length, wait, of } of steps) {
          now += wait;
          window.expire(now);
          window.add(length, now, tallies[of]!);
          list = [...list, { length, at: now, of }].filter(({ at }) => now - at <= 100);
        }
        const lengths = list.map((entry) => entry.length);

        expect([...window.sortedLengths()]).toEqual(lengths.sort((a, b) => a - b));
        expect(window.total).toBe(lengths.reduce((sum, length) => sum + length, 0));
        expect(tallies.map(({ sum }) => sum)).toEqual(
          [0, 1, 2].map((of) => list.filter((e) => e.of === of).reduce((sum, e) => sum + e.length, 0)),
        );
      }),
    );
  });
});
