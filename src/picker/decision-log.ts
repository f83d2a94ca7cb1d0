import type { Decision } from '../routing/decision.ts';
import { keyHash } from '../telemetry/key-hash.ts';
import type { Log } from '../telemetry/log.ts';

/** One line for each placed request at level debug, its key as a hash only (sticky-sessions 8, interface 11). */
export function logDecision(
  log: Log,
  pickId: string,
  { worker, model, policy, trail, loadKey, prefill }: Decision,
): void {
  if (!log.enabled('debug')) return;
  log.debug('placed', {
    pickId,
    worker: worker.id,
    model,
    policy,
    branch: trail.stickyBranch ?? trail.ringBranch ?? 'policy',
    source: trail.keySource ?? 'none',
    ...(prefill === null ? {} : { prefill: prefill.worker.id }),
    ...(loadKey === null ? {} : { keyHash: keyHash(loadKey) }),
  });
}
