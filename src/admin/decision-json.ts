import { isPass, type RecordedDecision } from '../picker/decision-ring.ts';
import type { Decision, Trail } from '../routing/decision.ts';
import { whyOf } from './decision-why.ts';

/** How a request ended as a decision. */
export type DecisionResult = 'placed' | 'refused' | 'passed';

/** A record as `GET /decisions` shows it. No key, nothing of a body. */
export function decisionJson(record: RecordedDecision) {
  const { outcome } = record;
  return {
    seq: record.seq,
    at: new Date(record.at).toISOString(),
    duration_ms: Math.round(record.tookMs * 1000) / 1000,
    result: resultOf(record),
    pick_id: record.pickId === '' ? null : record.pickId,
    worker_id: outcome?.kind === 'placed' ? outcome.worker.id : null,
    worker: outcome?.kind === 'placed' ? outcome.worker.name : null,
    model: outcome?.model ?? null,
    policy: outcome?.policy ?? null,
    ...trailJson(outcome?.trail ?? null),
    key_hash: record.keyHash,
    read: record.fromBody ? 'body' : 'headers',
    fallbacks: outcome?.kind === 'placed' ? outcome.fallbacks.map(({ id }) => id) : [],
    strict: outcome?.strict ?? false,
    pinned: outcome?.kind === 'placed' ? pinText(outcome) : null,
    reason: record.why ?? (outcome?.kind === 'refused' ? outcome.reason : null),
    prefill: outcome?.kind === 'placed' && outcome.prefill !== null ? prefillJson(outcome.prefill) : null,
    why: whyOf(record),
  };
}

/** Branch as `x-smg-decision` and the log name it; null where routing was not asked. */
export function branchOf({ outcome }: RecordedDecision): string | null {
  if (outcome === null) return null;
  const { stickyBranch, ringBranch } = outcome.trail;
  return stickyBranch ?? ringBranch ?? 'policy';
}

export function resultOf({ outcome, why }: RecordedDecision): DecisionResult {
  if (why !== null) return isPass(why) ? 'passed' : 'refused';
  return outcome?.kind === 'placed' ? 'placed' : 'refused';
}

function trailJson(trail: Trail | null) {
  if (trail === null) return { branch: null, policy_branch: null, match_ratio: null, key_source: null };
  return {
    branch: trail.stickyBranch ?? trail.ringBranch ?? 'policy',
    policy_branch: trail.cacheBranch ?? trail.prefixBranch,
    match_ratio: trail.matchRatio < 0 ? null : Math.round(trail.matchRatio * 1000) / 1000,
    key_source: trail.keySource,
  };
}

/** What became of the pin: `written` by this decision, `kept` as it was, `none` without a key that is pinned. */
function pinText({ pinKey, write }: Decision): 'written' | 'kept' | 'none' {
  if (write !== null) return 'written';
  return pinKey === null ? 'none' : 'kept';
}

function prefillJson(decision: Decision) {
  const { worker, policy, trail } = decision;
  return { worker_id: worker.id, worker: worker.name, policy, ...trailJson(trail), pinned: pinText(decision) };
}
