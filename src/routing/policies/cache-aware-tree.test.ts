import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import type { TestLoad } from '../../../test/support/fleet.ts';
import { makeReporting, report } from '../../../test/support/load-report.ts';
import type { Prompt } from '../../request/prompt.ts';
import type { Worker } from '../../workers/worker.ts';
import { CACHE_AWARE_DEFAULTS, type CacheAwareParameters } from '../policy-parameters.ts';
import { createCacheAwarePolicy } from './cache-aware.ts';
import { makePlacement, policySuite } from './policy.suite.ts';

policySuite('cache_aware', () => createCacheAwarePolicy(CACHE_AWARE_DEFAULTS));

/** Workers and a policy, asked as the router asks. */
class Bench {
  readonly workers: readonly Worker[];
  readonly policy;

  constructor(loads: readonly number[] = [0, 0], parameters: Partial<CacheAwareParameters> = {}) {
    this.workers = loads.map((requests, i) => makeReporting(`w${i + 1}`, null, requests));
    this.policy = createCacheAwarePolicy({ ...CACHE_AWARE_DEFAULTS, ...parameters });
  }

  load(...loads: readonly number[]): this {
    for (const [i, requests] of loads.entries()) (this.workers[i]!.load as TestLoad).requests = requests;
    return this;
  }

  /** The prompt is cached on a worker. */
  seen(id: string, prompt: Partial<Prompt>): this {
    this.policy.memory!.learn(this.#placement(prompt), this.workers.find((worker) => worker.id === id)!);
    return this;
  }

  ask(prompt: Partial<Prompt> | string, down = ''): { worker: string; branch: string | null; ratio: number } {
    const placement = this.#placement(typeof prompt === 'string' ? { text: prompt } : prompt, down);
    const worker = this.policy.pick(placement)!;
    return { worker: worker.id, branch: placement.trail.cacheBranch, ratio: placement.trail.matchRatio };
  }

  pick(prompt: Partial<Prompt> | string, down = ''): string {
    return this.ask(prompt, down).worker;
  }

  #placement(prompt: Partial<Prompt>, down = '') {
    const members = this.workers.map((worker) => (worker.id === down ? { ...worker, placeable: false } : worker));
    return makePlacement(members, { prompt }, () => 0.5);
  }
}

describe('policies 1.6.5 selection examples', () => {
  it('nothing cached: expected wait, and the prompt is remembered', () => {
    const bench = new Bench();
    const first = bench.ask('hello world');

    expect(first).toEqual({ worker: first.worker, branch: 'expected_wait_fallback', ratio: 0 });
    expect(bench.ask('hello world')).toEqual({ worker: first.worker, branch: 'tree_match', ratio: 1 });
    expect(bench.ask('hello')).toEqual({ worker: first.worker, branch: 'tree_match', ratio: 1 });
  });

  it('5 of 10 characters at a threshold of 0.5 are a miss', () => {
    const bench = new Bench([3, 0]).seen('w1', { text: 'hello' });

    expect(bench.ask('hello12345')).toEqual({ worker: 'w2', branch: 'expected_wait_fallback', ratio: 0.5 });
    expect(new Bench([3, 0]).seen('w1', { text: 'hello1' }).ask('hello12345')).toEqual({
      worker: 'w1',
      branch: 'tree_match',
      ratio: 0.6,
    });
  });

  it('of two holders the one with the shorter wait', () => {
    expect(
      new Bench([5, 0]).seen('w1', { text: 'hello world' }).seen('w2', { text: 'hello world' }).pick('hello world'),
    ).toBe('w2');
  });

  it('a hot holder is left, and the prompt is remembered where it went', () => {
    const bench = new Bench([100, 0]).seen('w1', { text: 'hello world' });

    expect(bench.ask('hello world')).toEqual({ worker: 'w2', branch: 'spill', ratio: 1 });
    expect(bench.load(0, 3).pick('hello world')).toBe('w1');
    expect(bench.load(3, 0).pick('hello world')).toBe('w2');
  });

  it('a holder attracts as long as it is not hot', () => {
    expect(new Bench([0, 50]).seen('w1', { text: 'hello world' }).pick('hello world')).toBe('w1');
    expect(new Bench([10, 0]).seen('w1', { text: 'hello world' }).pick('hello world')).toBe('w1');
    expect(
      new Bench([10, 0], { balanceAbsThreshold: 2 }).seen('w1', { text: 'hello world' }).ask('hello world'),
    ).toEqual({ worker: 'w2', branch: 'spill', ratio: 1 });
  });

  it('unseen text goes where least is in flight', () => {
    expect(new Bench([20, 0]).pick('unseen')).toBe('w2');
  });

  it('a holder that is not eligible: expected wait, and the prompt is remembered where it went', () => {
    const bench = new Bench([0, 9]).seen('w1', { text: 'hello world' });

    // The real SMG counts it as a spill.
    expect(bench.ask('hello world', 'w1')).toEqual({ worker: 'w2', branch: 'spill', ratio: 1 });
    expect(bench.ask('hello world', 'w1')).toEqual({ worker: 'w2', branch: 'tree_match', ratio: 1 });
  });

  it('empty or absent text is a miss', () => {
    const bench = new Bench([1, 0]).seen('w1', { text: 'hello world' });

    expect(bench.ask('')).toEqual({ worker: 'w2', branch: 'expected_wait_fallback', ratio: 0 });
    expect(bench.ask({ text: null })).toEqual({ worker: 'w2', branch: 'expected_wait_fallback', ratio: 0 });
  });

  it('compares in single precision: 3 of 10 characters are not more than 0.3', () => {
    const bench = new Bench([3, 0], { cacheThreshold: 0.3 }).seen('w1', { text: 'abc' });

    expect(bench.ask('abc1234567').branch).toBe('expected_wait_fallback');
  });
});

describe('policies 1.6.6 token tree', () => {
  const ids = (length: number, from = 0) => Uint32Array.from({ length }, (_, i) => from + i);

  it('counts whole pages against all tokens', () => {
    expect(new Bench([3, 0]).seen('w1', { tokens: ids(16) }).ask({ tokens: ids(20) })).toEqual({
      worker: 'w1',
      branch: 'tree_match',
      ratio: 0.8,
    });
    expect(new Bench([3, 0]).seen('w1', { tokens: ids(16) }).ask({ tokens: ids(48) })).toEqual({
      worker: 'w2',
      branch: 'expected_wait_fallback',
      ratio: 1 / 3,
    });
  });

  it('knows nothing of prompts shorter than a page', () => {
    const bench = new Bench([3, 0]).seen('w1', { tokens: ids(15) });

    expect(bench.ask({ tokens: ids(15) })).toEqual({ worker: 'w2', branch: 'expected_wait_fallback', ratio: 0 });
  });

  it('shares nothing with the text tree (policies 1.6.2 step 5)', () => {
    const bench = new Bench([3, 0]).seen('w1', { text: 'hello world', tokens: null });

    expect(bench.ask({ tokens: ids(32), text: 'hello world' }).branch).toBe('expected_wait_fallback');
  });
});

describe('policies 1.6.9 namespaces', () => {
  it('are apart from each other and from prompts without one', () => {
    const bench = new Bench([3, 0]).seen('w1', { text: 'hello world', namespace: '0123456789abcdef' });

    expect(bench.ask({ text: 'hello world', namespace: '0123456789abcdef' }).branch).toBe('tree_match');
    expect(bench.ask({ text: 'hello world', namespace: 'fedcba9876543210' }).branch).toBe('expected_wait_fallback');
    expect(bench.ask('hello world').branch).toBe('expected_wait_fallback');
  });
});

describe('policies 1.6.2 flow', () => {
  it('under KV pressure load decides, and the prompt is remembered where it went', () => {
    const bench = new Bench([0, 0], { overloadTokenUsageThreshold: 0.9 }).seen('w1', { text: 'hello world' });
    report(bench.workers[0]!, { tokenUsage: 0.95 });
    report(bench.workers[1]!, { tokenUsage: 0.1 });

    expect(bench.ask('hello world')).toEqual({ worker: 'w2', branch: 'kv_pressure_expected_wait', ratio: -1 });

    report(bench.workers[0]!, { tokenUsage: 0.85 });
    report(bench.workers[1]!, { tokenUsage: 0.1 });
    expect(bench.ask('hello world')).toEqual({ worker: 'w2', branch: 'tree_match', ratio: 1 });
  });

  it('each model of its workers has its own trees', () => {
    const policy = createCacheAwarePolicy(CACHE_AWARE_DEFAULTS);
    const pool = (model: string) =>
      [makeReporting('w1', null), makeReporting('w2', null, 1)].map((worker) => ({ ...worker, models: [model] }));
    policy.pick(makePlacement(pool('a'), { prompt: { text: 'hello world' } }));
    const other = makePlacement(pool('b'), { prompt: { text: 'hello world' } });
    policy.pick(other);

    expect(other.trail.cacheBranch).toBe('expected_wait_fallback');
    expect(policy.memory!.sizes().map(({ model, chars }) => [model, chars])).toEqual([
      ['a', 11],
      ['b', 11],
    ]);
  });
});

describe('what cache_aware remembers', () => {
  it('learns from pinned requests, without a word on the trail and without credit', () => {
    const bench = new Bench([0, 0]);
    for (const worker of bench.workers) report(worker, {});
    const placement = makePlacement(bench.workers, { prompt: { text: 'hello world' } });
    const trail = { ...placement.trail };

    for (let i = 0; i < 3; i++) bench.policy.memory!.learn(placement, bench.workers[0]!);

    expect(placement.trail).toEqual(trail);
    expect(bench.ask('hello world')).toEqual({ worker: 'w1', branch: 'tree_match', ratio: 1 });
    // One request is credited to w1 now. The next goes to w2, and then both are even.
    expect(bench.pick('something else')).toBe('w2');
  });

  it('learns also while nobody else can take the request', () => {
    const drains = { ...makeReporting('w1', null), placeable: false };
    const { policy } = new Bench();
    policy.memory!.learn(makePlacement([drains], { prompt: { text: 'hello world' } }), drains);

    expect(policy.memory!.sizes()[0]).toMatchObject({ model: 'unknown', chars: 11 });
  });

  it('forgets a worker that has left, and the model with its last worker', () => {
    const bench = new Bench().seen('w1', { text: 'hello' }).seen('w2', { text: 'world' });
    const memory = bench.policy.memory!;

    memory.forget('w1');
    expect(memory.sizes()).toMatchObject([{ model: 'unknown', chars: 5, textHolders: 1 }]);
    memory.forget('w2');
    expect(memory.sizes()).toEqual([]);
  });

  it('tends to what is left behind, piece by piece, until nothing is', () => {
    const bench = new Bench().seen('w1', { text: 'hello' }).seen('w2', { text: 'world' });
    const memory = bench.policy.memory!;
    memory.forget('w1');

    let pieces = 0;
    while (memory.tend(0)) pieces++;

    expect(pieces).toBeLessThan(10);
    expect(memory.tend(0)).toBe(false);
  });
});

describe('properties of cache_aware', () => {
  const prompt = fc.oneof(
    fc.record({ text: fc.stringMatching(/^[ab]{0,12}$/) }),
    fc.record({ tokens: fc.array(fc.nat(1), { minLength: 1, maxLength: 12 }).map((ids) => Uint32Array.from(ids)) }),
  );
  let parameters: CacheAwareParameters;
  beforeEach(() => {
    parameters = { ...CACHE_AWARE_DEFAULTS, maxTreeSize: 24, blockSize: 2, balanceAbsThreshold: 1, overlapDecay: 0.5 };
  });

  it('never picks a worker that is not eligible, and no tree exceeds its cap', () => {
    const step = fc.record({
      prompt,
      up: fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }),
      loads: fc.array(fc.nat(9), { minLength: 4, maxLength: 4 }),
      pinned: fc.option(fc.nat(3)),
      leaves: fc.option(fc.nat(3), { freq: 5 }),
      draw: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const policy = createCacheAwarePolicy(parameters);
        for (const { prompt: asked, up, loads, pinned, leaves, draw } of steps) {
          const members = loads.map((requests, i) => ({
            ...makeReporting(`w${i}`, i % 2 === 0 ? { waitingUncachedTokens: requests * 10 } : null, requests),
            placeable: up[i]!,
          }));
          const placement = makePlacement(members, { prompt: asked }, () => draw);
          if (pinned !== null) policy.memory!.learn(placement, members[pinned]!);
          const worker = policy.pick(placement);

          if (placement.candidates.length === 0) expect(worker).toBeNull();
          else expect(placement.candidates).toContain(worker);
          for (const { chars, tokens } of policy.memory!.sizes()) {
            expect(chars).toBeLessThanOrEqual(24);
            expect(tokens).toBeLessThanOrEqual(24);
          }
          if (leaves !== null) policy.memory!.forget(`w${leaves}`);
        }
      }),
    );
  });
});
