import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { commonLength, countPairs, ownPart } from './runs.ts';

const text = fc.oneof(
  fc.string({ maxLength: 200, size: 'max' }),
  fc.string({ unit: 'grapheme', maxLength: 200, size: 'max' }),
  fc.string({ unit: fc.constantFrom('a', 'é', '中', '😀', '😁'), maxLength: 200, size: 'max' }),
);

describe('runs', () => {
  it('have as much in common as a loop finds', () => {
    fc.assert(
      fc.property(text, text, text, fc.nat(50), (shared, one, other, at) => {
        const before = 'x'.repeat(at);
        const run = shared + one;
        const key = shared + other;
        let length = 0;
        while (length < run.length && length < key.length && run[length] === key[length]) length += 1;

        expect(commonLength(before + key, at, run)).toBe(length);
      }),
    );
  });

  it('are copied as they are', () => {
    fc.assert(
      fc.property(text, fc.nat(200), fc.nat(200), (all, a, b) => {
        expect(ownPart(all, Math.min(a, b), Math.max(a, b))).toBe(all.slice(Math.min(a, b), Math.max(a, b)));
      }),
    );
  });

  it.each([10, 100_000, 3_000_001])('of %d code units are copied as they are', (length) => {
    const all = `${'ab'.repeat(length / 2)}中`;

    expect(ownPart(all, 1, all.length) === all.slice(1)).toBe(true);
  });

  it('have as many pairs as code units too many', () => {
    fc.assert(
      fc.property(text, (all) => {
        const pairs = all.length - [...all].length;

        expect(countPairs(all)).toBe(pairs);
      }),
    );
  });

  it.each([31, 32, 33, 64, 65, 70_001])('count pairs wherever they stand in %d code units', (length) => {
    for (const at of [0, 1, length - 3, length - 2]) {
      const all = `${'中'.repeat(at)}😀${'é'.repeat(length - 2 - at)}`;

      expect(all.length).toBe(length);
      expect(countPairs(all)).toBe(1);
    }
  });
});
