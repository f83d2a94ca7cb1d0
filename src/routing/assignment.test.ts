import { describe, expect, it } from 'vitest';
import { makeWorker, TestLoad } from '../../test/support/fleet.ts';
import type { Worker } from '../workers/worker.ts';
import { assign } from './assignment.ts';

function loaded(id: string, requests: number, keys: number): Worker {
  const load = new TestLoad();
  for (let key = 0; key < keys; key++) load.begin(`${id}-${key}`);
  load.begin(null, requests - keys);
  return makeWorker(id, { load });
}

/** Draws spread evenly over [0, 1). */
function evenly(draws: number): readonly number[] {
  return Array.from({ length: draws }, (_, i) => (i + 0.5) / draws);
}

describe('sticky-sessions 3.2 assignment modes', () => {
  const workers = [loaded('a', 5, 1), loaded('b', 3, 3), loaded('c', 3, 2), loaded('d', 9, 1)];

  it.each([
    { mode: 'random', share: { a: 3, b: 3, c: 3, d: 3 } },
    { mode: 'min_load', share: { b: 6, c: 6 } },
    { mode: 'min_group', share: { a: 6, d: 6 } },
  ] as const)('$mode spreads twelve draws as $share', ({ mode, share }) => {
    const got: Record<string, number> = {};
    for (const draw of evenly(12)) {
      const id = assign(mode, workers, () => draw)?.id ?? 'nobody';
      got[id] = (got[id] ?? 0) + 1;
    }

    expect(got).toEqual(share);
  });

  it.each(['random', 'min_load', 'min_group'] as const)('%s passes over the taken ones, down to nobody', (mode) => {
    const taken: Worker[] = [];
    for (let i = 0; i < workers.length; i++) {
      const worker = assign(mode, workers, () => 0.99, taken);
      expect(taken).not.toContain(worker);
      taken.push(worker!);
    }

    expect(assign(mode, workers, () => 0, taken)).toBeNull();
  });

  it('random takes each of the others as often, whoever is taken', () => {
    const taken = [workers[0]!, workers[2]!];
    let draw = 0;
    const got: Record<string, number> = {};
    for (let i = 0; i < 4000; i++) {
      // A golden-ratio sequence: evenly spread, without a period that the redraws could fall in with.
      const worker = assign('random', workers, () => (draw = (draw + 0.618033988749895) % 1), taken)!;
      got[worker.id] = (got[worker.id] ?? 0) + 1;
    }

    expect(Object.keys(got).sort()).toEqual(['b', 'd']);
    expect(got['b']! / 4000).toBeCloseTo(0.5, 1);
  });

  it('random looks at one worker only where nobody is taken', () => {
    const seen: Worker[] = [];
    const watched = new Proxy(workers, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (typeof name === 'string' && /^\d+$/.test(name)) seen.push(value as Worker);
        return value;
      },
    });

    expect(assign('random', watched, () => 0.5)).toBe(workers[2]);
    expect(seen).toEqual([workers[2]]);
  });

  it.each(['random', 'min_load', 'min_group'] as const)('%s draws nothing for a single worker', (mode) => {
    const only = [workers[0]!];

    expect(
      assign(mode, only, () => {
        throw new Error('drawn');
      }),
    ).toBe(only[0]);
  });
});

describe('sticky-sessions 12 test 12: existing loads 2, 1, 0', () => {
  it.each(['min_load', 'min_group'] as const)('%s goes to the third', (mode) => {
    const workers = [loaded('a', 2, 2), loaded('b', 1, 1), loaded('c', 0, 0)];

    expect(assign(mode, workers, () => 0)?.id).toBe('c');
  });

  it('min_group puts nine held keys on three workers, three each', () => {
    const workers = [loaded('a', 0, 0), loaded('b', 0, 0), loaded('c', 0, 0)];
    for (let key = 0; key < 9; key++) {
      const worker = assign('min_group', workers, Math.random)!;
      (worker.load as TestLoad).begin(`key-${key}`);
    }

    expect(workers.map((worker) => worker.load.distinctKeys)).toEqual([3, 3, 3]);
  });
});
