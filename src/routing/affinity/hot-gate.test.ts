import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeReporting } from '../../../test/support/load-report.ts';
import type { Worker } from '../../workers/worker.ts';
import { meanLoad } from '../mean-load.ts';
import { contenders, HotGate } from './hot-gate.ts';

function loaded(...loads: readonly number[]): readonly Worker[] {
  return loads.map((requests, i) => makeReporting(`w${i}`, null, requests));
}

function names(workers: readonly Worker[]): string {
  return workers.map((worker) => worker.id).join(' ');
}

describe('policies 1.6.4 gate', () => {
  it.each([
    [1.5, 64, 100, 50, false],
    [1.5, 64, 128, 64, false],
    [1.5, 64, 129, 64.5, true],
    [1.5, 64, 200, 190, false],
    [1.1, 32, 100, 50, true],
  ])('rel %d, abs %d: %d requests over a mean of %d are hot: %s', (rel, abs, load, mean, hot) => {
    expect(new HotGate(abs, rel).isHot(load, mean)).toBe(hot);
  });

  it.each([
    [2, 128, false],
    [2, 129, true],
    [4, 85, false],
    [4, 86, true],
    [1, 1_000_000, false],
  ])('of %d workers, the others idle, one with %d requests is hot: %s', (count, requests, hot) => {
    const workers = loaded(requests, ...Array.from({ length: count - 1 }, () => 0));

    expect(new HotGate(64, 1.5).isHot(requests, meanLoad(workers))).toBe(hot);
  });

  it('widens the multiple from single precision', () => {
    // The single-precision 1.1 is a little more than 1.1.
    expect(new HotGate(0, 1.1).isHot(1.1 * 1000 + 1e-6, 1000)).toBe(false);
    expect(new HotGate(0, 1.1).isHot(1.1 * 1000 + 1e-3, 1000)).toBe(true);
  });
});

describe('policies 1.6.4 steps 3 and 4', () => {
  const gate = new HotGate(10, 1.1);
  const of = (workers: readonly Worker[], ...indices: readonly number[]) =>
    workers.filter((_, i) => indices.includes(i));

  it.each([
    ['all of the group while none is hot', [5, 0, 0], [0, 1], 'w0 w1'],
    ['who of the group is not hot', [100, 0, 0], [0, 1], 'w1'],
    ['the eligible that are not hot when all of the group are', [100, 100, 0, 0], [0, 1], 'w2 w3'],
    ['all eligible without a holder', [100, 0, 3], [], 'w0 w1 w2'],
  ])('expected wait decides among %s', (_, loads, group, expected) => {
    const workers = loaded(...loads);

    expect(names(contenders(of(workers, ...group), workers, gate, meanLoad(workers)))).toBe(expected);
  });

  it('expected wait decides among all eligible when each of them is hot', () => {
    const workers = loaded(100, 90);

    expect(names(contenders(of(workers, 0), workers, gate, 10))).toBe('w0 w1');
  });

  it('never leaves nobody, and never lets in anybody new', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(300), fc.boolean()), { minLength: 1, maxLength: 8 }),
        fc.nat(100),
        fc.double({ min: 1, max: 3, noNaN: true }),
        (fleet, abs, rel) => {
          const workers = loaded(...fleet.map(([requests]) => requests));
          const group = workers.filter((_, i) => fleet[i]![1]);
          const found = contenders(group, workers, new HotGate(abs, rel), meanLoad(workers));

          expect(found.length).toBeGreaterThan(0);
          for (const worker of found) expect(workers).toContain(worker);
        },
      ),
    );
  });
});
