/** The test switch of the gateways' conformance suite (endpoint-picker-protocol 9, decisions 43). */
import type { RequestHead } from '../request/request-head.ts';
import { type Decision, newTrail, type Outcome } from '../routing/decision.ts';
import type { PolicyName } from '../routing/policy-name.ts';
import { modelLabel, type WorkerSnapshot } from '../workers/snapshot.ts';
import type { Worker } from '../workers/worker.ts';
import { addEndpointNames, ipOfAddress } from './endpoint-names.ts';

/** Request header that names the endpoints of the answer, best first. */
export const SELECTION_HEADER = 'test-epp-endpoint-selection';

/** The endpoints that a request names, as worker addresses are written; null when it names none. */
export function selectionOf(head: RequestHead): readonly string[] | null {
  const bytes = head.first(SELECTION_HEADER);
  if (bytes === undefined || bytes.length === 0) return null;
  const names: string[] = [];
  addEndpointNames(Buffer.from(bytes).toString('latin1'), names);
  return names;
}

/** All of the named workers that can serve, in the order of their names, of one ip in that of their registration. */
export function placeSelection(
  names: readonly string[],
  fleet: WorkerSnapshot,
  policy: PolicyName,
  model: string,
): Outcome {
  const taken = new Set<Worker>();
  for (const name of names) {
    for (const worker of fleet.workers) {
      if (worker.placeable && (worker.address === name || ipOfAddress(worker.address) === name)) taken.add(worker);
    }
  }
  const [worker, ...fallbacks] = taken;
  const trail = newTrail();
  const known = modelLabel(model);
  if (worker === undefined) {
    return {
      kind: 'refused',
      reason: 'no_available_workers',
      leg: 'single',
      detail: null,
      strict: false,
      policy,
      model: known,
      trail,
    };
  }
  const decision: Decision = {
    kind: 'placed',
    worker,
    fallbacks,
    strict: false,
    closed: false,
    policy,
    model: known,
    pinKey: null,
    loadKey: null,
    write: null,
    prefill: null,
    trail,
  };
  return decision;
}
