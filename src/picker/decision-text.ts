import type { Decision, Trail } from '../routing/decision.ts';

/** Value of `x-smg-decision` (interface 7). */
export function decisionText({ trail, policy, prefill }: Decision): string {
  const text = `branch=${branchOf(trail)}; source=${trail.keySource ?? 'none'}; policy=${policy}`;
  if (prefill === null) return text;
  const leg = `prefill-branch=${branchOf(prefill.trail)}; prefill-policy=${prefill.policy}`;
  return `${text}; ${leg}; prefill=${prefill.worker.name}`;
}

function branchOf({ stickyBranch, ringBranch }: Trail): string {
  return stickyBranch ?? ringBranch ?? 'policy';
}
