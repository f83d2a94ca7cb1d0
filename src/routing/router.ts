/** Composition of pools, keys, sticky selection and policies into one decision. Hot path. */
import type { Endpoint } from '../request/endpoint.ts';
import type { RequestHead } from '../request/request-head.ts';
import type { RoutingRequest } from '../request/routing-request.ts';
import type { Random } from '../util/random.ts';
import { modelLabel, type Pool, type WorkerSnapshot } from '../workers/snapshot.ts';
import { type BodyNeed, type BodyNeedRules, bodyNeedOf } from './body-need.ts';
import { afterServed } from './candidates.ts';
import { newTrail, type Outcome, type Refusal } from './decision.ts';
import { type Eligibility, eligiblePart } from './eligibility.ts';
import { LegPlacer, type LegPlacerOptions } from './leg-placer.ts';
import type { ModelPolicies } from './model-policies.ts';
import type { Leg } from './pin-key.ts';
import { isStrict } from './policy.ts';
import type { Rehearsal } from './rehearsal.ts';
import { StickinessByPolicy, type StickinessOptions } from './stickiness.ts';

export interface RouterOptions extends StickinessOptions, Omit<LegPlacerOptions, 'leg' | 'stickiness'> {
  /** See `BodyNeedRules.checkModel`. */
  readonly checkModel: boolean;
}

export interface Router {
  readonly policies: ModelPolicies;
  /**
   * Where a request goes. Writes nothing: a decision with a `write` holds once the caller committed that, and when the
   * commit shows that other candidates won, the caller decides again. Only a policy's own state moves.
   *
   * @param now milliseconds, monotonic
   * @param eligible the workers that the request may use; null: all
   * @param rehearsal told how a decision comes about that is only rehearsed: then nothing moves at all
   */
  decide(
    request: RoutingRequest,
    snapshot: WorkerSnapshot,
    now: number,
    random: Random,
    eligible?: Eligibility | null,
    rehearsal?: Rehearsal | null,
  ): Outcome;
  /** Whether the body must be read first: see `bodyNeedOf`. */
  bodyNeed(head: RequestHead, snapshot: WorkerSnapshot, endpoint: Endpoint): BodyNeed;
  /** Candidates to store when another worker than the picked one served; null when they stay: see `afterServed`. */
  afterServed(pinKey: string, candidates: readonly string[], servedWorkerId: string): readonly string[] | null;
  /**
   * Names under which a key of a pool may be pinned, for who looks it up: as it is, and where requests drop the lineage of
   * their keys also without it.
   *
   * @param tenant value of the tenant's header, null for requests without it; ignored where none is named
   */
  pinKeys(tenant: string | null, pool: Pool, leg: Leg, key: string): readonly string[];
}

export function createRouter(options: RouterOptions): Router {
  return new StickyRouter(options);
}

class StickyRouter implements Router {
  readonly policies: ModelPolicies;
  readonly #stickiness: StickinessByPolicy;
  readonly #placer: LegPlacer;
  readonly #needs: BodyNeedRules;

  constructor(options: RouterOptions) {
    this.policies = options.policies;
    this.#stickiness = new StickinessByPolicy(options);
    const stickiness = this.#stickiness;
    this.#placer = new LegPlacer({ ...options, leg: 'single', stickiness });
    const { keys, policies, pins, tenantHeader, checkModel } = options;
    this.#needs = { leg: 'single', keys, policies, stickiness, pins, tenantHeader, checkModel };
  }

  decide(
    request: RoutingRequest,
    snapshot: WorkerSnapshot,
    now: number,
    random: Random,
    eligible: Eligibility | null = null,
    rehearsal: Rehearsal | null = null,
  ): Outcome {
    const pool = snapshot.pool(request.model);
    if (pool === undefined) return this.#unserved(request);
    return this.#placer.place(request, eligible === null ? pool : eligiblePart(pool, eligible), now, random, rehearsal);
  }

  bodyNeed(head: RequestHead, snapshot: WorkerSnapshot, endpoint: Endpoint): BodyNeed {
    return bodyNeedOf(head, snapshot, endpoint, this.#needs);
  }

  afterServed(pinKey: string, candidates: readonly string[], servedWorkerId: string): readonly string[] | null {
    const { rules } = this.#stickiness.ofPin(pinKey);
    return afterServed(candidates, servedWorkerId, rules.write);
  }

  pinKeys(tenant: string | null, pool: Pool, _leg: Leg, key: string): readonly string[] {
    return this.#placer.pinKeys(tenant, pool, key);
  }

  #unserved({ model, head }: RoutingRequest): Refusal {
    const policy = this.policies.standard;
    const reason = model === '' ? 'no_available_workers' : 'model_not_found';
    return {
      kind: 'refused',
      reason,
      leg: 'single',
      detail: null,
      strict: isStrict(policy, head),
      policy: policy.name,
      model: modelLabel(model),
      trail: newTrail(),
    };
  }
}
