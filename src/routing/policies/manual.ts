import type { Worker } from '../../workers/worker.ts';
import { type AssignmentMode, assign, loadBy, type OwnAssignmentMode } from '../assignment.ts';
import type { Policy } from '../policy.ts';
import { POLICY_FACTS } from '../policy-facts.ts';
import type { Weight } from '../rehearsal.ts';

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
    weigh: ({ candidates }) => weighBy(own, candidates),
    next: ({ candidates, random }, taken) => assign(own, candidates, random, taken),
  };
}

function weighBy(mode: OwnAssignmentMode, candidates: readonly Worker[]): readonly Weight[] {
  if (mode === 'random') return [];
  const name = mode === 'min_load' ? 'requests' : 'distinct_keys';
  return [{ name, values: candidates.map((worker) => loadBy(mode, worker)) }];
}
