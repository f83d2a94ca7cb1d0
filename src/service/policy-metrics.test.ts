import { describe, expect, it } from 'vitest';
import { makeWorker } from '../../test/support/fleet.ts';
import { createCacheAwarePolicy } from '../routing/policies/cache-aware.ts';
import { makePlacement } from '../routing/policies/policy.suite.ts';
import { CACHE_AWARE_DEFAULTS } from '../routing/policy-parameters.ts';

import { createMetrics, renderMetrics } from '../telemetry/metrics.ts';
import { bindPolicyMetrics } from './policy-metrics.ts';

const workers = [makeWorker('w0', { models: ['m'] }), makeWorker('w1', { models: ['m'] })];

describe('policies 8.2 gauges of the cache_aware policy', () => {
  it('show both trees by model', () => {
    const policy = createCacheAwarePolicy(CACHE_AWARE_DEFAULTS);
    const metrics = createMetrics();
    bindPolicyMetrics(metrics, { all: [policy] });
    policy.pick(makePlacement(workers, { prompt: { text: 'hello world' } }));
    policy.pick(makePlacement(workers, { prompt: { tokens: new Uint32Array(40) } }));

    const text = linesOf(metrics);

    expect(text).toEqual([
      'smg_cache_tree_chars{model="m"} 11',
      'smg_cache_tree_tenants{model="m",tree="string"} 2',
      'smg_cache_tree_tenants{model="m",tree="token"} 1',
      'smg_cache_tree_tokens{model="m"} 32',
    ]);
  });

  it('show the hash index by model', () => {
    const policy = createCacheAwarePolicy({
      ...CACHE_AWARE_DEFAULTS,
      cacheIndex: 'hash',
      cacheBoundaries: [16, 64],
      maxTreeSize: 100_000,
    });
    const metrics = createMetrics();
    bindPolicyMetrics(metrics, { all: [policy] });
    policy.pick(makePlacement(workers, { prompt: { tokens: new Uint32Array(70) } }));

    expect(linesOf(metrics)).toEqual(['smg_cache_placement_entries{model="m"} 2']);
  });
});

function linesOf(metrics: ReturnType<typeof createMetrics>): string[] {
  return renderMetrics(metrics)
    .split('\n')
    .filter((line) => /^smg_cache_(tree|placement)/.test(line))
    .sort();
}
