import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeWorker, TestLoad } from '../../../test/support/fleet.ts';
import { type RequestParts, SMG_KEYS } from '../../../test/support/routing.ts';
import type { Worker } from '../../workers/worker.ts';
import { PREFIX_HASH_DEFAULTS } from '../policy-parameters.ts';
import { makePlacement, policySuite } from './policy.suite.ts';
import { PrefixHashPolicy } from './prefix-hash.ts';

const create = (parameters = {}) =>
  new PrefixHashPolicy({ ...PREFIX_HASH_DEFAULTS, ...parameters }, { ...SMG_KEYS, override: false });

policySuite('prefix_hash', create);

/** `http://w1:8000` and so on, with so many requests in flight. */
function fleet(...requests: readonly number[]): Worker[] {
  return requests.map((count, i) => {
    const load = new TestLoad();
    load.begin(null, count);
    return makeWorker(`http://w${i + 1}:8000`, { load });
  });
}

/** Number in `http://wN:8000`, and why. */
function pick(members: readonly Worker[], parts: RequestParts, parameters = {}) {
  const placement = makePlacement(members, parts);
  const worker = create(parameters).pick(placement);
  return [worker === null ? null : Number(worker.id.slice(8, -5)), placement.trail.prefixBranch];
}

const ids = (count: number) => Uint32Array.from({ length: count }, (_, i) => i);

describe('policies 1.8 ring targets of prefix_hash', () => {
  it.each([
    { what: 'tokens 0…255', parts: { prompt: { tokens: ids(256) } }, at: 3 },
    { what: 'Hello, world!', parts: { prompt: { text: 'Hello, world!' } }, at: 1 },
    { what: 'routing key user-1', parts: { key: 'user-1' }, at: 3 },
  ])('$what: w$at', ({ parts, at }) => {
    expect(pick(fleet(0, 0, 0), parts)).toEqual([at, 'ring_hit']);
  });
});

describe('policies 1.7 prefix_hash', () => {
  const HELLO = { prompt: { text: 'Hello, world!' } }; // w1

  it.each([
    { loads: [4, 3, 3], want: [2, 'no_routing_key'] },
    { loads: [0, 0, 0], want: [1, 'no_routing_key'] },
  ])('without a key takes the first of the least loaded of $loads', ({ loads, want }) => {
    expect(pick(fleet(...loads), {})).toEqual(want);
  });

  it('passes over the target that is no candidate, clockwise', () => {
    const [w1, ...rest] = fleet(0, 0, 0);
    const [at, branch] = pick([{ ...w1!, placeable: false }, ...rest], HELLO);

    expect(at).not.toBe(1);
    expect(branch).toBe('ring_hit');
  });

  it.each([
    { what: 'within its limit', loads: [20, 10, 10], want: [1, 'ring_hit'] },
    { what: 'at its limit', loads: [18, 3, 2], want: [1, 'ring_hit'] },
    { what: 'one above it', loads: [19, 3, 1], want: [3, 'load_balance_walk'] },
    { what: 'above it, for the least loaded', loads: [40, 10, 5], want: [3, 'load_balance_walk'] },
    { what: 'above it, for the first of equals', loads: [40, 5, 5], want: [2, 'load_balance_walk'] },
  ])('takes the target $what', ({ loads, want }) => {
    expect(pick(fleet(...loads), HELLO)).toEqual(want);
  });

  it('tries the target of each boundary, deepest first', () => {
    const prompt = { text: 'a'.repeat(64) };
    const parameters = { cacheBoundaries: [4, 16] };
    const at = (...loads: readonly number[]) => pick(fleet(...loads), { prompt }, parameters);
    const [deep] = at(0, 0, 0);
    const [shallow] = pick(fleet(0, 0, 0), { prompt: { text: 'a'.repeat(16) } }, parameters);
    expect(deep).not.toBe(shallow);
    const busy = (...numbers: readonly unknown[]) => [1, 2, 3].map((n) => (numbers.includes(n) ? 100 : 0));

    expect(at(...busy(deep))).toEqual([shallow, 'ring_hit']);
    expect(at(...busy(deep, shallow))).toEqual([6 - Number(deep) - Number(shallow), 'load_balance_walk']);
  });

  it('goes on to the least loaded when none of the rest passes', () => {
    const [w1, ...others] = fleet(0, 0, 0);
    const onwards = create().next(makePlacement([w1!, ...others], HELLO), [w1!])!;
    const busy = makePlacement(fleet(0, ...others.map((worker) => (worker === onwards ? 120 : 100))), HELLO);

    expect(create().next(busy, [busy.candidates[0]!])?.load.requests).toBe(100);
  });

  it('goes on clockwise, and past workers with too much to do', () => {
    const idle = makePlacement(fleet(0, 0, 0), HELLO);
    const first = create().pick(idle)!;
    const second = create().next(idle, [first])!;
    expect(create().next(idle, [first, second])).not.toBeNull();
    const loads = [1, 2, 3].map((n) => (second.id.includes(`w${n}`) ? 100 : 0));

    expect(create().next(makePlacement(fleet(...loads), HELLO), [first])).not.toEqual(second);
  });

  it('keeps the prompts of those that stay when a worker joins or leaves', () => {
    const workers = fc.integer({ min: 2, max: 8 });
    fc.assert(
      fc.property(workers, fc.array(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 50 }), (count, texts) => {
        const members = fleet(...Array.from({ length: count }, () => 0));
        const left = members[0]!;
        for (const text of texts) {
          const before = create().pick(makePlacement(members, { prompt: { text } }));
          const after = create().pick(makePlacement(members.slice(1), { prompt: { text } }));
          if (before !== left) expect(after).toBe(before);
        }
      }),
      { numRuns: 20 },
    );
  });

  it('moves about its share of the prompts to a worker that joins', () => {
    const members = fleet(0, 0, 0, 0, 0);
    let moved = 0;
    const policies = [create(), create()];
    const before = makePlacement(members.slice(1), {});
    const after = makePlacement(members, {});
    for (let i = 0; i < 1000; i++) {
      const { request } = makePlacement(members, { prompt: { text: `prompt ${i}` } });
      const [was, is] = [policies[0]!.pick({ ...before, request }), policies[1]!.pick({ ...after, request })];
      if (was !== is) {
        expect(is).toBe(members[0]);
        moved++;
      }
    }

    expect(Math.abs(moved - 200)).toBeLessThan(60);
  });
});
