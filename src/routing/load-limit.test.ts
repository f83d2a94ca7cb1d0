import { describe, expect, it } from 'vitest';
import { makeWorker, TestLoad } from '../../test/support/fleet.ts';
import { loadLimit } from './load-limit.ts';
import { PREFIX_HASH_DEFAULTS } from './policy-parameters.ts';

function limitOf(total: number, workers: number, loadFactor: number, balanceAbsThreshold: number): number {
  const loads = Array.from({ length: workers }, () => new TestLoad());
  loads[0]?.begin(null, total);
  const members = loads.map((load, i) => makeWorker(`w${i}`, { load }));
  return loadLimit(members, { ...PREFIX_HASH_DEFAULTS, loadFactor, balanceAbsThreshold });
}

describe('policies 1.7 load check', () => {
  it.each([
    { factor: 1.25, abs: 0, total: 100, load: 31, passes: true, limit: 31.56 },
    { factor: 1.25, abs: 0, total: 100, load: 32, passes: false, limit: 31.56 },
    { factor: 1.25, abs: 10, total: 40, load: 20, passes: true, limit: 20.25 },
    { factor: 1.25, abs: 10, total: 40, load: 21, passes: false, limit: 20.25 },
    { factor: 1.25, abs: 10, total: 800, load: 250, passes: true, limit: 250.31 },
    { factor: 1.25, abs: 10, total: 800, load: 251, passes: false, limit: 250.31 },
  ])('$factor / $abs, $total in flight on 4: $load passes: $passes', ({ factor, abs, total, load, passes, limit }) => {
    expect(limitOf(total, 4, factor, abs)).toBeCloseTo(limit, 2);
    expect(load <= limitOf(total, 4, factor, abs)).toBe(passes);
  });

  it('lets everybody pass an idle fleet', () => {
    expect(limitOf(0, 3, 1, 0)).toBe(Number.POSITIVE_INFINITY);
  });
});
