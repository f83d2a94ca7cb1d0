import { describe, expect, it } from 'vitest';
import { newTrail, type Refusal, type Trail } from '../routing/decision.ts';
import type { Cell } from '../telemetry/instruments.ts';
import { createMetrics, type Metrics } from '../telemetry/metrics.ts';
import { PickCounters } from './pick-counters.ts';

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
    { label: 'rid', noted: { keySource: 'rid' }, cell: (metrics) => metrics.routingKeySources.cell('rid') },
  ])('counts $label once, where a decision notes it', ({ noted, cell }) => {
    const metrics = createMetrics();
    const counters = new PickCounters(metrics);
    const refusal = (trail: Partial<Trail>): Refusal => ({
      kind: 'refused',
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
});
