import { RING_BRANCHES, STICKY_BRANCHES } from '../../routing/decision.ts';
import type { HistogramCell } from '../../telemetry/instruments.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { NamedCounter } from './series.ts';

/** The counters that the page plots: all decisions, each branch, refusals and requests that went on without a pick. */
export function decisionCounters(metrics: Metrics): readonly NamedCounter[] {
  const decisions = (): number =>
    observed(metrics.decisionSeconds.cell('headers')) + observed(metrics.decisionSeconds.cell('body'));
  const branches: readonly NamedCounter[] = [
    ...STICKY_BRANCHES.map((branch) => ({ name: branch, read: () => metrics.manualBranches.cell(branch).value })),
    ...RING_BRANCHES.filter((branch) => branch !== 'no_healthy_workers').map((branch) => ({
      name: branch,
      read: () => metrics.consistentHashingBranches.cell(branch).value,
    })),
  ];
  const refused = (): number => summed(metrics.refusals);
  const passed = (): number => summed(metrics.passes);
  let before = 0;
  // Of a request that is split both legs have branches, so that there may be more of them than decisions.
  const unkeyed = (): number => {
    const keyed = branches.reduce((sum, { read }) => sum + read(), 0);
    before = Math.max(before, decisions() - keyed - refused() - passed());
    return before;
  };
  return [
    { name: 'decisions', read: decisions },
    ...branches,
    { name: 'policy', read: unkeyed },
    { name: 'refused', read: refused },
    { name: 'passed', read: passed },
  ];
}

function observed({ counts }: HistogramCell): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

function summed(counter: Metrics['refusals'] | Metrics['passes']): number {
  let sum = 0;
  counter.forEach((_labels, { value }) => {
    sum += value;
  });
  return sum;
}
