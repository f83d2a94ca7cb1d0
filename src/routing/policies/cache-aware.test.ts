import { describe, expect, it } from 'vitest';
import { makeWorker } from '../../../test/support/fleet.ts';
import { CACHE_AWARE_DEFAULTS, type CacheAwareParameters } from '../policy-parameters.ts';
import { createCacheAwarePolicy } from './cache-aware.ts';
import { makePlacement } from './policy.suite.ts';

const TREE = CACHE_AWARE_DEFAULTS;
const HASH: CacheAwareParameters = { ...TREE, cacheIndex: 'hash', cacheBoundaries: [2], maxTreeSize: 1000 };

describe('cache_aware with other parameters', () => {
  it.each<[string, CacheAwareParameters, Partial<CacheAwareParameters>, boolean]>([
    ['trees, another threshold', TREE, { cacheThreshold: 0.9, balanceAbsThreshold: 5, evictionIntervalMs: 1 }, true],
    ['trees, another size', TREE, { maxTreeSize: 20_000 }, false],
    ['trees, another page', TREE, { blockSize: 4 }, false],
    ['trees, then the index', TREE, HASH, false],
    ['the index, another gate', HASH, { balanceRelThreshold: 3 }, true],
    ['the index, other boundaries', HASH, { cacheBoundaries: [2, 4] }, false],
    ['the index, another time to live', HASH, { cacheTtlMs: 5 }, false],
    ['the index, then trees', HASH, TREE, false],
  ])('%s: what it remembers stays: %4$s', (_, before, changed, stays) => {
    const previous = createCacheAwarePolicy(before);
    previous.pick(makePlacement([makeWorker('w')], { prompt: { tokens: new Uint32Array(32) } }));
    expect(previous.memory!.sizes()).toHaveLength(1);

    const next = createCacheAwarePolicy({ ...before, ...changed }, previous);

    expect(next.memory!.sizes()).toHaveLength(stays ? 1 : 0);
  });
});
