import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makePool, makeWorker } from '../../test/support/fleet.ts';
import type { Pool } from '../workers/snapshot.ts';
import type { Worker } from '../workers/worker.ts';
import { firstBounds } from './length-bounds.ts';
import { LengthBuckets } from './length-buckets.ts';
import { BUCKET_DEFAULTS } from './policy-parameters.ts';

const MAX = Number.POSITIVE_INFINITY;
const INTERVAL = 5000;
const workers = (count: number) => Array.from({ length: count }, (_, i) => makeWorker(`w${i + 1}`));

/** Buckets over a pool whose members can change, with a clock. */
class Bench {
  readonly buckets = new LengthBuckets(BUCKET_DEFAULTS);
  pool: Pool;
  now = 0;

  constructor(members: readonly Worker[] = workers(3)) {
    this.pool = makePool(members);
  }

  choose(length: number, draw = 0): string | undefined {
    const { memberIds, available } = this.pool;
    return this.buckets.choose(memberIds, available, length, this.now, () => draw)?.id;
  }

  /** The next interval has these requests and ends. */
  interval(...lengths: readonly number[]): readonly number[] {
    this.later();
    for (const length of lengths) this.choose(length);
    this.buckets.adjust(this.now);
    return this.buckets.bounds;
  }

  /** All requests so far leave the window. */
  later(): void {
    this.now += INTERVAL + 1;
  }
}

const FIRST = [5, 10, 15, 20, 24, 26];

describe('policies 1.9 boundaries of three workers', () => {
  it('begins with 4096 divided', () => {
    const bench = new Bench();
    bench.choose(0);

    expect(bench.buckets.bounds).toEqual([1364, 2729, MAX]);
  });

  it('gives each worker a length when there are more workers than that', () => {
    expect([...firstBounds(5000)].slice(0, 3)).toEqual([0, 1, 2]);
  });

  it.each([
    { what: 'first', before: [], window: FIRST, bounds: [20, 26, MAX] },
    { what: 'share 33 → 67', before: [FIRST], window: [10, 20, 30, 40, 45, 57], bounds: [40, 57, MAX] },
    { what: 'share 33, now 64', before: [FIRST], window: [10, 20, 30, 32, 45, 55], bounds: [20, 26, MAX] },
    {
      what: 'share 67 → 6',
      before: [FIRST, [10, 20, 30, 40, 45, 57]],
      window: [20],
      bounds: [20, 27, MAX],
    },
    {
      what: 'share 6 → 2',
      before: [FIRST, [10, 20, 30, 40, 45, 57], [20]],
      window: [7],
      bounds: [7, 10, MAX],
    },
    { what: 'a length where a range begins', before: [], window: [6, 7, 7], bounds: [6, 13, MAX] },
    { what: 'share 33 → 66, not more than double', before: [FIRST], window: [98, 100], bounds: [20, 26, MAX] },
    { what: 'share 34 → 17, not less than half', before: [[102]], window: [51], bounds: [102, 137, MAX] },
    { what: 'share 34 → 16', before: [[102]], window: [50], bounds: [50, 67, MAX] },
  ])('$what: $window → $bounds', ({ before, window, bounds }) => {
    const bench = new Bench();
    for (const each of before) bench.interval(...each);

    expect(bench.interval(...window)).toEqual(bounds);
  });

  it('keeps them through an interval without requests', () => {
    const bench = new Bench();
    bench.interval(...FIRST);

    expect(bench.interval()).toEqual([20, 26, MAX]);
  });

  it('are made anew with the first request after an interval', () => {
    const bench = new Bench();
    for (const length of FIRST) bench.choose(length);
    bench.now = INTERVAL;
    bench.choose(0);

    expect(bench.buckets.bounds).toEqual([20, 26, MAX]);
  });

  it.each([
    { length: 20, at: 'w1' },
    { length: 21, at: 'w2' },
    { length: 27, at: 'w3' },
  ])('send a prompt of $length to $at', ({ length, at }) => {
    const bench = new Bench();
    bench.interval(...FIRST);
    bench.later();

    expect(bench.choose(length)).toBe(at);
  });
});

describe('policies 1.9 balance', () => {
  it('goes to the worker with the least when one has more by difference and by ratio', () => {
    const bench = new Bench();
    expect([bench.choose(33), bench.choose(33), bench.choose(33)]).toEqual(['w1', 'w2', 'w3']);
    expect([bench.choose(32), bench.choose(1)]).toEqual(['w1', 'w1']);
    expect(bench.choose(0)).not.toBe('w1');
  });

  it('compares by ratio in single precision', () => {
    const bench = new Bench(workers(2));
    expect([bench.choose(100_000_000), bench.choose(100_010_004)]).toEqual(['w2', 'w1']);

    expect(bench.choose(1)).toBe('w1');
  });

  it('begins anew when the window has passed', () => {
    const bench = new Bench();
    bench.choose(33);
    expect(bench.choose(33)).not.toBe('w1');
    bench.now = INTERVAL;
    expect(bench.choose(33)).not.toBe('w1');

    bench.later();

    expect(bench.choose(33)).toBe('w1');
  });
});

describe('buckets, mended (policies 9, 12)', () => {
  it('choose another worker when the owner is no candidate', () => {
    const [w1, w2, w3] = workers(3);
    const bench = new Bench([w1!, { ...w2!, placeable: false }, w3!]);

    expect([bench.choose(1400), bench.choose(10_000)].sort()).toEqual(['w1', 'w3']);
  });

  it('compare candidates only', () => {
    const [w1, w2, w3] = workers(3);
    const bench = new Bench([w1!, w2!, { ...w3!, placeable: false }]);
    bench.choose(33);
    bench.choose(33, 0.9);

    expect(bench.choose(10)).toBe('w1');
  });

  it('make sensible ranges of the traffic at hand when a worker joins', () => {
    const bench = new Bench();
    for (const length of FIRST) bench.choose(length);

    bench.pool = makePool([...bench.pool.members, makeWorker('w4')]);
    bench.choose(0);

    expect(bench.buckets.bounds).toEqual([15, 24, 26, MAX]);
  });

  it('keep ranges and tallies when the same members come in another list', () => {
    const bench = new Bench();
    bench.interval(...FIRST);
    bench.pool = makePool(bench.pool.members);
    bench.choose(0);

    expect(bench.buckets.bounds).toEqual([20, 26, MAX]);
  });

  it('cover every length, ascending, whatever the traffic and the fleet', () => {
    const step = fc.record({
      length: fc.nat(100_000),
      wait: fc.constantFrom(0, 1, 1000, INTERVAL, INTERVAL + 1),
      up: fc.array(fc.boolean(), { minLength: 1, maxLength: 5 }),
    });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 40 }), (steps) => {
        const bench = new Bench();
        const known = workers(5);
        for (const { length, wait, up } of steps) {
          bench.now += wait;
          bench.pool = makePool(up.map((placeable, i) => ({ ...known[i]!, placeable })));
          const chosen = bench.choose(length, 0.5);
          const { bounds } = bench.buckets;

          expect(bench.pool.available.map(({ id }) => id)).toEqual(
            chosen === undefined ? [] : expect.arrayContaining([chosen]),
          );
          expect(bounds).toHaveLength(up.length);
          expect([...bounds].sort((a, b) => a - b)).toEqual(bounds);
          expect(bounds.at(-1)).toBe(MAX);
        }
      }),
    );
  });
});
