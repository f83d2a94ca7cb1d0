import { type AssignmentMode, assign, type OwnAssignmentMode } from '../assignment.ts';
import type { Policy } from '../policy.ts';
import { POLICY_FACTS } from '../policy-facts.ts';

/** The mode that `manual` places by: it has no policy to delegate to (sticky-sessions 3.2). */
export function manualMode(mode: AssignmentMode): OwnAssignmentMode {
  return mode === 'delegate' ? 'min_load' : mode;
}

/** The placing half of `manual` (policies 1.10). What makes it sticky stands above the policies, as for the override. */
export function createManualPolicy(mode: AssignmentMode): Policy {
  const own = manualMode(mode);
  return {
    name: 'manual',
    facts: POLICY_FACTS.manual,
    memory: null,
    pick: ({ candidates, random }) => assign(own, candidates, random),
    next: ({ candidates, random }, taken) => assign(own, candidates, random, taken),
  };
}
