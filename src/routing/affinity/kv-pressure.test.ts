import { describe, expect, it } from 'vitest';
import { engineOf, makeReporting } from '../../../test/support/load-report.ts';
import { KvPressure } from './kv-pressure.ts';

function fires(usages: readonly (number | null)[], overload: number, balance: number): boolean {
  const workers = usages.map((tokenUsage, i) => makeReporting(`w${i}`, tokenUsage === null ? null : { tokenUsage }));
  return new KvPressure(overload, balance).fires(workers);
}

describe('policies 1.6.3 KV pressure', () => {
  it.each([
    [[0.95, 0.94, 0.93], 1, 0.3, false],
    [[0.9, 0.1], 1, 0.3, true],
    [[0.92, 0.88], 0.9, 1, true],
    [[0.9, 0.1], 1, 1, false],
    [[0.9, null], 1, 0.3, false],
    [[0.5, 0.25], 0.5, 1, false],
    [[0.75, 0.5], 1, 0.25, false],
    [[0.75, 0.25], 0.5, 1, true],
    [[0.75, 0.375], 1, 0.25, true],
    [[null, null], 0.1, 0.1, false],
    [[], 0.1, 0.1, false],
  ])('%j with overload %d and balance %d: %s', (usages, overload, balance, expected) => {
    expect(fires(usages, overload, balance)).toBe(expected);
  });

  it('keeps its thresholds in single precision, and what it compares in double, as SMG does', () => {
    expect(fires([0.9, 0.5], 0.9, 1)).toBe(true);
    expect(fires([0.95, 0.05], 1, 0.9)).toBe(true);
    expect(fires([0.8, 0.5], 1, 0.3)).toBe(false);
  });

  it('looks at the last poll, not at what was said before it', () => {
    const worker = makeReporting('w0', { tokenUsage: 0.99 });
    engineOf(worker).missed();

    expect(new KvPressure(0.5, 1).fires([worker])).toBe(false);
  });
});
