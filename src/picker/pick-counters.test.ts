import { describe, expect, it } from 'vitest';
import { KEY_PLACES, newTrail, type Refusal, type Trail } from '../routing/decision.ts';
import type { Cell } from '../telemetry/instruments.ts';
import { createMetrics, type Metrics } from '../telemetry/metrics.ts';
import { PickCounters } from './pick-counters.ts';

/** SMG knows two sources: the body and the head. */
const SMG_SOURCE = {
  rid: 'rid',
  body: 'rid',
  opening: 'rid',
  header: 'header',
  agents: 'header',
  cookie: 'header',
  query: 'header',
} as const;

describe('PickCounters', () => {
  it.each<{ label: string; noted: Partial<Trail>; cell: (metrics: Metrics) => Cell }>([
    { label: 'vacant', noted: { stickyBranch: 'vacant' }, cell: (metrics) => metrics.manualBranches.cell('vacant') },
    {
      label: 'random_fallback',
      noted: { ringBranch: 'random_fallback' },
      cell: (metrics) => metrics.consistentHashingBranches.cell('random_fallback'),
    },
    {
      label: 'ring_hit',
      noted: { prefixBranch: 'ring_hit' },
      cell: (metrics) => metrics.prefixHashBranches.cell('ring_hit'),
    },
    {
      label: 'tree_match of a tree',
      noted: { cacheBranch: 'tree_match', matchRatio: 1 },
      cell: (metrics) => metrics.cacheAwareBranches.cell('tree_match'),
    },
    {
      label: 'hash_hit',
      noted: { cacheBranch: 'hash_hit' },
      cell: (metrics) => metrics.cacheIndexBranches.cell('hash_hit'),
    },
    {
      label: 'expected_wait_fallback of the hash index',
      noted: { cacheBranch: 'expected_wait_fallback' },
      cell: (metrics) => metrics.cacheIndexBranches.cell('expected_wait_fallback'),
    },
    ...KEY_PLACES.map((place) => ({
      label: `a key of ${place} as SMG's ${SMG_SOURCE[place]}`,
      noted: { keySource: place },
      cell: (metrics: Metrics) => metrics.routingKeySources.cell(SMG_SOURCE[place]),
    })),
    ...KEY_PLACES.map((place) => ({
      label: `a key of ${place}`,
      noted: { keySource: place },
      cell: (metrics: Metrics) => metrics.routingKeyPlaces.cell(place),
    })),
  ])('counts $label once, where a decision notes it', ({ noted, cell }) => {
    const metrics = createMetrics();
    const counters = new PickCounters(metrics);
    const refusal = (trail: Partial<Trail>): Refusal => ({
      kind: 'refused',
      leg: 'single',
      detail: null,
      strict: false,
      reason: 'no_available_workers',
      policy: 'random',
      model: 'm',
      trail: { ...newTrail(), ...trail },
    });

    counters.outcome(refusal({}), 'chat', null);
    expect(cell(metrics).value).toBe(0);

    counters.outcome(refusal(noted), 'chat', null);
    expect(cell(metrics).value).toBe(1);
  });

  it.each([
    ['no_available_workers', 'm', 'no_workers'],
    ['worker_overload_protection_shed', 'm', 'backend_error'],
    ['model_not_found', 'other', 'no_workers'],
  ] as const)('a request refused with %s is one of model %s, its error %s, as with SMG', (reason, model, error) => {
    const metrics = createMetrics();
    const refusal: Refusal = {
      kind: 'refused',
      leg: 'single',
      detail: null,
      strict: false,
      reason,
      policy: 'random',
      model: 'm',
      trail: newTrail(),
    };

    new PickCounters(metrics).outcome(refusal, 'chat', false);

    expect(metrics.routerRequests.cell('http', 'regular', 'http', model, 'chat', 'false').value).toBe(1);
    expect(metrics.routerRequestErrors.cell('http', 'regular', 'http', model, 'chat', error).value).toBe(1);
  });

  it('counts as SMG what the trees of cache_aware decided, and only that (policies 8.3)', () => {
    const metrics = createMetrics();
    const counters = new PickCounters(metrics);
    const decided = (noted: Partial<Trail>): void =>
      counters.outcome(
        {
          kind: 'refused',
          leg: 'single',
          detail: null,
          strict: false,
          reason: 'no_available_workers',
          policy: 'cache_aware',
          model: 'm',
          trail: { ...newTrail(), ...noted },
        },
        'chat',
        null,
      );

    decided({ cacheBranch: 'expected_wait_fallback', matchRatio: 0 });
    decided({ cacheBranch: 'tree_match', matchRatio: Math.fround(0.75) });
    decided({ cacheBranch: 'expected_wait_fallback' });
    decided({ cacheBranch: 'kv_pressure_expected_wait' });

    const ratios = metrics.cacheAwareMatchRatio.cell();
    expect(metrics.cacheAwareBranches.cell('expected_wait_fallback').value).toBe(1);
    expect(ratios.sum).toBe(0.75);
    expect(ratios.counts.map((count, i) => (count > 0 ? ratios.bounds[i] : null)).filter((at) => at !== null)).toEqual([
      0, 0.8,
    ]);
  });
});
