import type { RequestHead } from '../request/request-head.ts';
import { readRoutingTokens } from '../request/routing-tokens.ts';
import { readTargetWorker } from '../request/target-worker.ts';
import type { WorkerSnapshot } from '../workers/snapshot.ts';
import type { BodyReason } from './body-reason.ts';
import type { Policy } from './policy.ts';
import type { HeaderKeyReader, KeyRules } from './routing-keys.ts';

/** What a decision wants of a body; null when the headers suffice. */
export type BodyNeed = Extract<BodyReason, 'routing_key_override' | 'policy_needs_text' | 'model_ambiguous'> | null;

/**
 * Whether a request can be placed by its headers alone (sticky-sessions 4.2 in the form of 11.2). First match wins:
 *
 * 1. the override is on, and a `rid` would beat what the headers say (a target worker beats every key);
 * 2. the policy needs the prompt, and no valid token hint stands in for it;
 * 3. the model decides on the pool (decisions 18).
 *
 * @param ridReadable false where the endpoint has no `rid` (sticky-sessions 2.1)
 */
export function bodyNeedOf(
  head: RequestHead,
  snapshot: WorkerSnapshot,
  ridReadable: boolean,
  rules: KeyRules,
  readHeader: HeaderKeyReader,
  policy: Policy,
): BodyNeed {
  if (ridReadable && ridMayDecide(head, rules, readHeader, policy)) return 'routing_key_override';
  if (policy.needsPrompt && readRoutingTokens(head) === null) return 'policy_needs_text';
  return snapshot.uniform ? null : 'model_ambiguous';
}

function ridMayDecide(head: RequestHead, rules: KeyRules, readHeader: HeaderKeyReader, policy: Policy): boolean {
  if (!rules.override || rules.order === 'header-only') return false;
  if (policy.name === 'consistent_hashing' && readTargetWorker(head) !== null) return false;
  return rules.order === 'rid-first' || readHeader(head, rules) === null;
}
