import type { PinStore } from '../pins/pin-store.ts';
import type { Endpoint } from '../request/endpoint.ts';
import type { RequestHead } from '../request/request-head.ts';
import { hasRoutingTokens } from '../request/routing-tokens.ts';
import { tenantScope } from '../request/tenant.ts';
import type { Pool, WorkerSnapshot } from '../workers/snapshot.ts';
import type { BodyReason } from './body-reason.ts';
import { mayBeInBody } from './key-sources.ts';
import type { ModelPolicies } from './model-policies.ts';
import { type Leg, overridePinKey } from './pin-key.ts';
import { isStrict, type Policy } from './policy.ts';
import { headKey, type KeyRules, keyOfHead, readListedKey } from './routing-keys.ts';
import type { Stickiness, StickinessByPolicy } from './stickiness.ts';
import { pinDecides } from './sticky.ts';

/** What a decision wants of a body; null when the headers suffice. */
export type BodyNeed = Extract<
  BodyReason,
  'routing_key_override' | 'policy_needs_text' | 'model_ambiguous' | 'pd'
> | null;

/** What the answer depends on besides the request and the fleet. */
export interface BodyNeedRules {
  readonly leg: Leg;
  readonly keys: KeyRules;
  readonly policies: ModelPolicies;
  readonly stickiness: StickinessByPolicy;
  readonly pins: Pick<PinStore, 'peek'>;
  /** See `LegPlacerOptions`. */
  readonly tenantHeader: string | null;
  /** A model that nobody serves is refused here also where it could not change the choice. */
  readonly checkModel: boolean;
}

/**
 * Whether a request can be placed by its headers alone (sticky-sessions 4.2 in the form of 11.2). First match wins:
 *
 * 1. a key in the body would beat what the head says (a target worker beats every key): a `rid` with the override on, or what
 *    another source finds there;
 * 2. the policy needs the prompt, unless a valid token hint stands in for it, or a key from the headers decides without it;
 * 3. the model decides on the pool (decisions 18), or on the policy; or it is to be checked, and the workers list theirs.
 *
 * Where the model is not certain before the body is read, row 2 goes by all policies that any model has. Changes nothing: a
 * pin that decides now may be gone when the request is placed, and then the policy places it without its prompt.
 */
export function bodyNeedOf(
  head: RequestHead,
  snapshot: WorkerSnapshot,
  endpoint: Endpoint,
  rules: BodyNeedRules,
): BodyNeed {
  const { policies } = rules;
  const pool = certainPool(snapshot, rules);
  const policy = pool === undefined ? policies.standard : policies.of(pool);
  const above = rules.stickiness.of(policy);
  if (bodyKeyMayDecide(head, endpoint, rules.keys, above, policy)) return 'routing_key_override';
  if (pool === undefined) {
    const text = policies.needsPrompt && !hasTokenHint(head, rules.leg);
    return text ? 'policy_needs_text' : 'model_ambiguous';
  }
  if (promptDecides(head, pool, policy, above, rules)) return 'policy_needs_text';
  return rules.checkModel && snapshot.models.length > 0 ? 'model_ambiguous' : null;
}

/** The pool of a request whose body was not read, if no body could make it another one. */
function certainPool(snapshot: WorkerSnapshot, { leg, policies }: BodyNeedRules): Pool | undefined {
  if (!snapshot.uniform) return undefined;
  // Models that share their workers may still have policies of their own.
  if (!policies.single && snapshot.soleModel === '' && snapshot.models.length > 0) return undefined;
  return snapshot.pool(snapshot.soleModel, leg === 'single' ? 'regular' : leg);
}

/** Legs do not look at it (policies 4.5). */
function hasTokenHint(head: RequestHead, leg: Leg): boolean {
  return leg === 'single' && hasRoutingTokens(head);
}

function bodyKeyMayDecide(
  head: RequestHead,
  endpoint: Endpoint,
  keys: KeyRules,
  { kind, readHeader }: Stickiness,
  policy: Policy,
): boolean {
  if (kind === 'none' && !policy.facts.readsKey) return false;
  const { sources, override } = keys;
  let last = sources.length - 1;
  for (; last >= 0; last--) {
    const source = sources[last];
    if (source !== undefined && mayBeInBody(source, endpoint, override)) break;
  }
  if (last < 0 || isStrict(policy, head)) return false;
  for (let i = 0; i < last; i++) {
    const source = sources[i];
    if (source === undefined) continue;
    if (mayBeInBody(source, endpoint, override)) return true;
    if (headKey(source, head, keys, readHeader) !== null) return false;
  }
  return true;
}

function promptDecides(
  head: RequestHead,
  pool: Pool,
  policy: Policy,
  above: Stickiness,
  { leg, keys, pins, tenantHeader }: BodyNeedRules,
): boolean {
  const { needsPrompt, readsKey } = policy.facts;
  if (!needsPrompt || hasTokenHint(head, leg)) return false;
  const key = above.kind === 'override' || readsKey ? keyOfHead(head, keys, readListedKey) : null;
  if (key === null) return true;
  // It hashes a key of the headers instead of the prompt, also for the first placement (sticky-sessions 3.2, 5).
  if (readsKey) return false;
  const scope = tenantScope(head, tenantHeader);
  return !pinDecides(above.rules, pins, overridePinKey(scope, pool.model, leg, key), `${scope}${key}`, pool);
}
