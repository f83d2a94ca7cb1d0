import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TestLoad } from '../../../test/support/fleet.ts';
import { makeReporting, report } from '../../../test/support/load-report.ts';
import type { Prompt } from '../../request/prompt.ts';
import { CACHE_AWARE_DEFAULTS, type CacheAwareParameters } from '../policy-parameters.ts';
import { createCacheAwarePolicy } from './cache-aware.ts';
import { makePlacement, policySuite } from './policy.suite.ts';

const HASH: CacheAwareParameters = {
  ...CACHE_AWARE_DEFAULTS,
  cacheIndex: 'hash',
  cacheBoundaries: [16, 64],
  maxTreeSize: 64 * 1000,
};

policySuite('cache_aware', () => createCacheAwarePolicy(HASH));

const SECOND = 1000;

/** The ids 0, 1, 2 … as far as `same` goes, then others. */
function ids(length: number, same = length): Uint32Array {
  return Uint32Array.from({ length }, (_, i) => (i < same ? i : 9000 + i));
}

class Bench {
  readonly workers = [0, 1, 2].map((i) => makeReporting(`w${i + 1}`, null));
  readonly policy;
  now = 0;

  constructor(parameters: Partial<CacheAwareParameters> = {}) {
    this.policy = createCacheAwarePolicy({ ...HASH, ...parameters });
  }

  load(...loads: readonly number[]): this {
    for (const [i, requests] of loads.entries()) (this.workers[i]!.load as TestLoad).requests = requests;
    return this;
  }

  ask(prompt: Partial<Prompt> | Uint32Array, down = ''): { worker: string; branch: string | null } {
    const parts = { prompt: prompt instanceof Uint32Array ? { tokens: prompt } : prompt };
    const members = this.workers.map((worker) => (worker.id === down ? { ...worker, placeable: false } : worker));
    const placement = { ...makePlacement(members, parts, () => 0.5), now: this.now };
    const worker = this.policy.pick(placement)!;
    expect(placement.trail.matchRatio).toBe(-1);
    return { worker: worker.id, branch: placement.trail.cacheBranch };
  }

  get entries(): number {
    return this.policy.memory!.sizes()[0]?.placements ?? 0;
  }
}

describe('policies 1.6.7 boundaries 16 and 64, time to live 180 s', () => {
  /** The first prompt went to w1, which is the busiest ever since. */
  function begun(parameters: Partial<CacheAwareParameters> = {}): Bench {
    const bench = new Bench(parameters).load(0, 1, 1);
    expect(bench.ask(ids(70))).toEqual({ worker: 'w1', branch: 'expected_wait_fallback' });
    expect(bench.entries).toBe(2);
    return bench.load(5, 0, 1);
  }

  it('100 tokens with the same first 64, 10 s later: the same worker', () => {
    const bench = begun();
    bench.now = 10 * SECOND;

    expect(bench.ask(ids(100, 64))).toEqual({ worker: 'w1', branch: 'hash_hit' });
  });

  it('40 tokens with the same first 16: the same worker', () => {
    expect(begun().ask(ids(40, 16))).toEqual({ worker: 'w1', branch: 'hash_hit' });
  });

  it('12 tokens: by load', () => {
    const bench = begun();

    expect(bench.ask(ids(12))).toEqual({ worker: 'w2', branch: 'short_request' });
    expect(bench.entries).toBe(2);
  });

  it('after 181 s: by load', () => {
    const bench = begun();
    bench.now = 181 * SECOND;

    expect(bench.ask(ids(100, 64))).toEqual({ worker: 'w2', branch: 'expected_wait_fallback' });
  });

  it('without tokens: by load, and nothing is recorded', () => {
    const bench = begun();

    expect(bench.ask({ text: 'hello world' })).toEqual({ worker: 'w2', branch: 'expected_wait_fallback' });
    expect(bench.entries).toBe(2);
  });

  it('the longest head comes first', () => {
    const bench = begun();
    bench.ask(ids(40, 16), 'w1');
    const other = ids(70, 16);
    bench.load(0, 5, 5);
    bench.ask(other, 'w1');

    // Both w1 and another worker hold the first 16; only the other one holds all 64.
    expect(bench.ask(other).worker).not.toBe('w1');
    expect(bench.ask(other).branch).toBe('hash_hit');
  });

  it('a shorter head counts when nobody eligible holds the longer one', () => {
    const bench = begun();
    bench.load(0, 0, 1).ask(ids(40, 16), 'w1');

    expect(bench.ask(ids(100, 64), 'w1')).toEqual({ worker: 'w2', branch: 'hash_hit' });
  });

  it('a hot holder is left, and the prompt is recorded where it went', () => {
    const bench = begun().load(100, 0, 1);

    expect(bench.ask(ids(70))).toEqual({ worker: 'w2', branch: 'hash_spill' });
    expect(bench.load(0, 0, 0).ask(ids(70), 'w1')).toEqual({ worker: 'w2', branch: 'hash_hit' });
  });

  it('under KV pressure: by load, and recorded', () => {
    const bench = begun({ overloadTokenUsageThreshold: 0.9 }).load(0, 0, 1);
    report(bench.workers[0]!, { tokenUsage: 0.95 });
    report(bench.workers[1]!, { tokenUsage: 0.1 });

    expect(bench.ask(ids(70))).toEqual({ worker: 'w2', branch: 'kv_pressure_expected_wait' });
    expect(bench.ask(ids(70), 'w1')).toEqual({ worker: 'w2', branch: 'hash_hit' });
  });

  it('a short prompt is one under KV pressure too', () => {
    const bench = begun({ overloadTokenUsageThreshold: 0.9 });
    report(bench.workers[0]!, { tokenUsage: 0.95 });

    expect(bench.ask(ids(12)).branch).toBe('short_request');
  });

  it('namespaces are apart', () => {
    const bench = begun();

    expect(bench.ask({ tokens: ids(70), namespace: '0123456789abcdef' }).branch).toBe('expected_wait_fallback');
    expect(bench.ask({ tokens: ids(70), namespace: '0123456789abcdef' }).branch).toBe('hash_hit');
  });

  it('neither decay nor temperature have a say', () => {
    const bench = begun({ overlapDecay: 5, selectionTemperature: 3 });

    expect(bench.ask(ids(70))).toEqual({ worker: 'w1', branch: 'hash_hit' });
  });
});

describe('what the hash index remembers', () => {
  it('learns from pinned requests', () => {
    const bench = new Bench().load(5, 0, 1);
    const placement = makePlacement(bench.workers, { prompt: { tokens: ids(70) } });
    bench.policy.memory!.learn(placement, bench.workers[0]!);

    expect(placement.trail.cacheBranch).toBeNull();
    expect(bench.ask(ids(70))).toEqual({ worker: 'w1', branch: 'hash_hit' });
  });

  it('learns nothing from text', () => {
    const bench = new Bench();
    bench.policy.memory!.learn(makePlacement(bench.workers, { prompt: { text: 'hello' } }), bench.workers[0]!);

    expect(bench.policy.memory!.sizes()).toEqual([]);
  });

  it('drops what has expired when it is tended', () => {
    const bench = new Bench();
    bench.ask(ids(70));
    expect(bench.policy.memory!.tend(181 * SECOND)).toBe(false);

    expect(bench.entries).toBe(0);
  });

  it('forgets a worker, and the model with its last worker', () => {
    const bench = new Bench().load(0, 1, 1);
    bench.ask(ids(70));
    const memory = bench.policy.memory!;
    memory.forget('w1');

    expect(bench.ask(ids(70)).branch).toBe('expected_wait_fallback');
    for (const { id } of bench.workers) memory.forget(id);
    expect(memory.sizes()).toEqual([]);
  });

  it('never picks a worker that is not eligible, and never exceeds its cap', () => {
    const step = fc.record({
      head: fc.nat(9),
      length: fc.integer({ min: 1, max: 6 }),
      up: fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }),
      loads: fc.array(fc.nat(9), { minLength: 3, maxLength: 3 }),
      wait: fc.nat(100_000),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const policy = createCacheAwarePolicy({
          ...HASH,
          cacheBoundaries: [1, 3, 5],
          maxTreeSize: 64 * 5,
          balanceAbsThreshold: 1,
        });
        let now = 0;
        for (const { head, length, up, loads, wait } of steps) {
          now += wait;
          const members = loads.map((requests, i) => ({
            ...makeReporting(`w${i}`, null, requests),
            placeable: up[i]!,
          }));
          const tokens = new Uint32Array(length).fill(head);
          const placement = { ...makePlacement(members, { prompt: { tokens } }), now };
          const worker = policy.pick(placement);

          if (placement.candidates.length === 0) expect(worker).toBeNull();
          else expect(placement.candidates).toContain(worker);
          for (const { placements } of policy.memory!.sizes()) expect(placements).toBeLessThanOrEqual(5);
        }
      }),
    );
  });
});
