import { describe, expect, it } from 'vitest';
import { loadReport } from './load-report.ts';
import { isOverloaded, isProtected, NO_OVERLOAD_RULE, type OverloadRule, ruleFor } from './overload.ts';

const rule = (waitingRequests: number | null, tokenUsage: number | null): OverloadRule => ({
  waitingRequests,
  tokenUsage,
});

describe('policies 2.2 overload veto', () => {
  it.each([
    { waiting: [5], usage: [0], by: rule(5, null), out: true },
    { waiting: [4], usage: [1], by: rule(5, null), out: false },
    { waiting: [3, 2], usage: [0, 0], by: rule(5, null), out: true },
    { waiting: [3, 1], usage: [0, 0], by: rule(5, null), out: false },
    { waiting: [0], usage: [0.7], by: rule(null, 0.7), out: true },
    { waiting: [99], usage: [0.69], by: rule(null, 0.7), out: false },
    { waiting: [0, 0], usage: [0.9, 0.5], by: rule(null, 0.7), out: true },
    { waiting: [0, 0], usage: [0.9, 0.3], by: rule(null, 0.7), out: false },
    { waiting: [0], usage: [0.9], by: rule(5, 0.9), out: true },
    { waiting: [5], usage: [0], by: rule(5, 0.9), out: true },
    { waiting: [4], usage: [0.89], by: rule(5, 0.9), out: false },
    { waiting: [1_000_000], usage: [1], by: NO_OVERLOAD_RULE, out: false },
  ])('waiting $waiting and usage $usage by $by: overloaded $out', ({ waiting, usage, by, out }) => {
    const ranks = waiting.map((waitingRequests, rank) => ({ rank, waitingRequests, tokenUsage: usage[rank]! }));

    expect(isOverloaded(loadReport(ranks, 0), by)).toBe(out);
  });

  it.each([
    { fleet: rule(5, 0.9), own: NO_OVERLOAD_RULE, want: rule(5, 0.9) },
    { fleet: rule(5, 0.9), own: rule(3, null), want: rule(3, 0.9) },
    { fleet: rule(5, 0.9), own: rule(null, 0.6), want: rule(5, 0.6) },
    { fleet: rule(5, null), own: rule(3, 0.6), want: rule(3, 0.6) },
    { fleet: NO_OVERLOAD_RULE, own: rule(3, null), want: rule(3, null) },
  ])('a worker that declares $own in a fleet with $fleet is judged by $want', ({ fleet, own, want }) => {
    expect(ruleFor(fleet, own)).toEqual(want);
  });

  it('needs reports as soon as one signal counts', () => {
    expect([NO_OVERLOAD_RULE, rule(1, null), rule(null, 0.5)].map(isProtected)).toEqual([false, true, true]);
  });
});
