/** Places one leg of a request in its pool: sticky selection above one policy. Hot path. */
import { stripLineage } from '../request/lineage.ts';
import type { RoutingRequest } from '../request/routing-request.ts';
import { NO_SCOPE, scopeOfTenant, tenantScope } from '../request/tenant.ts';
import type { Random } from '../util/random.ts';
import type { Pool } from '../workers/snapshot.ts';
import { NO_WORKERS, type Worker } from '../workers/worker.ts';
import { allOverloaded } from './all-overloaded.ts';
import { assign } from './assignment.ts';
import { type Decision, newTrail, type Outcome, type PinWrite, type Refusal, type RefusalReason } from './decision.ts';
import type { ModelPolicies } from './model-policies.ts';
import { startOf } from './next-by-key.ts';
import { pastVeto } from './past-veto.ts';
import { peersOf } from './peers.ts';
import { type Leg, manualPinKey, overridePinKey } from './pin-key.ts';
import { among, isStrict, type Placement, type Policy } from './policy.ts';
import type { Rehearsal } from './rehearsal.ts';
import { type KeyRules, keyOf, loadKeyOf } from './routing-keys.ts';
import type { Stickiness, StickinessByPolicy } from './stickiness.ts';
import { anyKeepsPins, chooseSticky, type PinLookup } from './sticky.ts';

export interface LegPlacerOptions {
  readonly leg: Leg;
  readonly policies: ModelPolicies;
  readonly stickiness: StickinessByPolicy;
  readonly keys: KeyRules;
  readonly pins: PinLookup;
  /** Lower-case name of the header that tells tenants apart; null: none does. */
  readonly tenantHeader: string | null;
  /** Workers named after the first, for Envoy's retries. */
  readonly fallbacks: number;
  /** A model whose workers are all overloaded is refused; else the least loaded of them is asked (smg-observed 6). */
  readonly shed: boolean;
  /** The policy learns from requests that a pin placed, where their prompt is at hand (sticky-sessions P11). */
  readonly learnFromPins: boolean;
}

export class LegPlacer {
  readonly #options: LegPlacerOptions;

  constructor(options: LegPlacerOptions) {
    this.#options = options;
  }

  /**
   * A worker of the pool, or why there is none. Writes nothing; only a policy's own state moves.
   *
   * @param now milliseconds, monotonic
   * @param rehearsal told of it, when nothing may change for the request
   */
  place(request: RoutingRequest, pool: Pool, now: number, random: Random, rehearsal: Rehearsal | null = null): Outcome {
    const { keys, policies, stickiness: byPolicy, tenantHeader } = this.#options;
    const trail = newTrail();
    const policy = policies.of(pool);
    const stickiness = byPolicy.of(policy);
    const { kind } = stickiness;
    const key =
      kind === 'none' ? null : keyOf(request, keys, stickiness.readHeader, kind === 'override' ? trail : null);
    const keyStart = key === null ? -1 : startOf(key);
    const candidates = pool.available;
    const placement: Placement = { request, pool, candidates, now, random, trail, keyStart, rehearsal };
    const scope = tenantScope(request.head, tenantHeader);
    const loadKey = scoped(scope, kind === 'override' ? key : loadKeyOf(request, keys));
    if (rehearsal !== null) {
      const pinKey = key === null ? null : this.#pinKey(scope, pool, policy, kind, key);
      rehearsal.placing({ leg: this.#options.leg, placement, policy, stickiness, keys, key, pinKey, loadKey });
    }
    if (candidates.length === 0 && allOverloaded(pool)) {
      return this.#placeOverloaded(placement, policy, stickiness, key, loadKey);
    }
    if (key === null) return this.#placeUnkeyed(placement, policy, stickiness, loadKey);
    return this.#placeKeyed(placement, policy, stickiness, scope, key, loadKey);
  }

  /** See `Router.pinKeys`. */
  pinKeys(tenant: string | null, pool: Pool, key: string): readonly string[] {
    const { policies, stickiness, tenantHeader } = this.#options;
    const scope = tenantHeader === null ? NO_SCOPE : scopeOfTenant(tenant);
    const policy = policies.of(pool);
    const { kind } = stickiness.of(policy);
    const exact = this.#pinKey(scope, pool, policy, kind, key);
    const conversation = kind === 'manual' ? key : stripLineage(key);
    return conversation === key ? [exact] : [exact, this.#pinKey(scope, pool, policy, kind, conversation)];
  }

  #pinKey(scope: string, { model }: Pool, policy: Policy, kind: Stickiness['kind'], key: string): string {
    const { leg, policies } = this.#options;
    if (kind !== 'manual') return overridePinKey(scope, model, leg, key);
    return manualPinKey(scope, leg, key, policy === policies.standard ? null : model);
  }

  #placeKeyed(
    placement: Placement,
    policy: Policy,
    { kind, rules }: Stickiness,
    scope: string,
    key: string,
    loadKey: string | null,
  ): Outcome {
    const { pins, learnFromPins } = this.#options;
    const { pool, trail } = placement;
    if (!anyKeepsPins(pool)) {
      trail.stickyBranch = 'no_healthy_workers';
      return this.#refuse('no_available_workers', policy, placement);
    }
    const pinKey = this.#pinKey(scope, pool, policy, kind, key);
    const choice = chooseSticky(rules, policy, pins, pinKey, loadKey, placement);
    if (choice === null || choice.worker === null) {
      return this.#refuse('no_available_workers', policy, placement);
    }
    if (learnFromPins && trail.stickyBranch === 'occupied_hit' && placement.rehearsal === null) {
      learn(policy, placement, choice.worker);
    }
    return this.#placed(placement, policy, choice.worker, choice.other, pinKey, loadKey, choice.write);
  }

  #placeUnkeyed(placement: Placement, policy: Policy, { kind }: Stickiness, loadKey: string | null): Outcome {
    const { trail } = placement;
    const nobody = placement.candidates.length === 0;
    if (kind === 'manual') trail.stickyBranch = nobody ? 'no_healthy_workers' : 'no_routing_id';
    const worker = nobody ? null : policy.pick(placement);
    if (worker === null) return this.#refuse('no_available_workers', policy, placement);
    return this.#placed(placement, policy, worker, null, null, loadKey, null);
  }

  /** Sheds, or goes past pin and policy and writes no pin (policies 2.2, smg-observed 6). */
  #placeOverloaded(
    placement: Placement,
    policy: Policy,
    { kind }: Stickiness,
    key: string | null,
    loadKey: string | null,
  ): Outcome {
    const { pool, random, trail } = placement;
    if (key !== null || kind === 'manual') trail.stickyBranch = 'no_healthy_workers';
    if (this.#options.shed) return this.#refuse('worker_overload_protection_shed', policy, placement);
    const candidates = pastVeto(pool);
    const worker = assign('min_load', candidates, random);
    if (worker === null) return this.#refuse('no_available_workers', policy, placement);
    trail.pastVeto = true;
    return this.#placed(among(placement, candidates), policy, worker, null, null, loadKey, null);
  }

  #placed(
    placement: Placement,
    policy: Policy,
    worker: Worker,
    other: Worker | null,
    pinKey: string | null,
    loadKey: string | null,
    write: PinWrite | null,
  ): Decision {
    const { pool, trail } = placement;
    const strict = trail.ringBranch === 'target_worker_hit';
    return {
      kind: 'placed',
      worker,
      fallbacks: strict ? NO_WORKERS : this.#fallbacksOf(placement, policy, worker, other),
      strict,
      closed: strict,
      policy: policy.name,
      model: pool.model,
      pinKey,
      loadKey,
      write,
      prefill: null,
      trail,
    };
  }

  /** Where to go on: the other worker of the pin, then the policy's next best (sticky-sessions 11.4). */
  #fallbacksOf(placement: Placement, policy: Policy, worker: Worker, other: Worker | null): readonly Worker[] {
    const most = this.#options.fallbacks;
    if (most <= 0) return NO_WORKERS;
    const from = worker.rank === null ? placement : ofRank(placement, worker.rank);
    const taken = [worker];
    if (other !== null && (worker.rank === null || other.rank === worker.rank)) taken.push(other);
    while (taken.length <= most && from.candidates.length > 0) {
      const next = policy.next(from, taken);
      if (next === null) break;
      taken.push(next);
    }
    return taken.slice(1);
  }

  #refuse(reason: RefusalReason, policy: Policy, { request, pool, trail }: Placement): Refusal {
    const { leg } = this.#options;
    const strict = isStrict(policy, request.head);
    const { model } = pool;
    return { kind: 'refused', reason, leg, detail: null, strict, policy: policy.name, model, trail };
  }
}

/** The same placement among the workers of one rank: the body names it, also to the next engine. */
function ofRank(placement: Placement, rank: number): Placement {
  return among(placement, peersOf(placement.candidates, rank));
}

function scoped(scope: string, key: string | null): string | null {
  return key === null || scope === NO_SCOPE ? key : `${scope}${key}`;
}

function learn({ memory }: Policy, placement: Placement, worker: Worker): void {
  if (memory === null) return;
  const { prompt } = placement.request;
  if (prompt.tokens !== null || prompt.text !== null) memory.learn(placement, worker);
}
