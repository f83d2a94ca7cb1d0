/** Routing under prefill/decode disaggregation: a worker for each leg, with pins and policies of its own. Hot path. */
import type { Endpoint } from '../../request/endpoint.ts';
import type { RequestHead } from '../../request/request-head.ts';
import type { RoutingRequest } from '../../request/routing-request.ts';
import type { Random } from '../../util/random.ts';
import { modelLabel, NO_MODEL, type Pool, type WorkerSnapshot } from '../../workers/snapshot.ts';
import { allOverloaded } from '../all-overloaded.ts';
import { type BodyNeed, type BodyNeedRules, bodyNeedOf } from '../body-need.ts';
import { type Decision, newTrail, type Outcome, type Refusal, type RefusalReason } from '../decision.ts';
import { type Eligibility, eligiblePart } from '../eligibility.ts';
import { LegPlacer } from '../leg-placer.ts';
import type { ModelPolicies } from '../model-policies.ts';
import type { Leg } from '../pin-key.ts';
import { isStrict } from '../policy.ts';
import type { Rehearsal } from '../rehearsal.ts';
import type { Router, RouterOptions } from '../router.ts';
import { StickinessByPolicy } from '../stickiness.ts';
import type { PairingMode } from './compatibility.ts';
import { Pairing } from './pairs.ts';
import { rolesOf } from './roles.ts';

export interface PairOptions {
  readonly prefill: ModelPolicies;
  readonly decode: ModelPolicies;
  readonly mode: PairingMode;
  /** The legs' bodies are made of the client's, so that it has to be read. */
  readonly readsBodies: boolean;
  /** Both legs get the same request at once, by Envoy's mirroring. */
  readonly mirrored: boolean;
}

type PairedLeg = 'prefill' | 'decode';

export class PairRouter implements Router {
  readonly #single: Router;
  readonly #options: RouterOptions;
  readonly #pair: PairOptions;
  readonly #pairing: Pairing;
  /** Nobody goes on from a prefill worker to another: the pair is chosen anew then. */
  readonly #prefill: LegPlacer;
  readonly #prefillAlone: LegPlacer;
  readonly #decode: LegPlacer;
  readonly #needs: Readonly<Record<PairedLeg, BodyNeedRules>>;

  /** @param single for the part of the fleet that is not split */
  constructor(single: Router, options: RouterOptions, pair: PairOptions) {
    this.#single = single;
    this.#options = options;
    this.#pair = pair;
    this.#pairing = new Pairing(pair.mode, !options.shed, pair.mirrored);
    const stickiness = new StickinessByPolicy(options);
    const { keys, pins, tenantHeader, checkModel } = options;
    const prefill = { ...options, leg: 'prefill', policies: pair.prefill, stickiness } as const;
    this.#prefill = new LegPlacer({ ...prefill, fallbacks: 0 });
    this.#prefillAlone = new LegPlacer(prefill);
    this.#decode = new LegPlacer({ ...options, leg: 'decode', policies: pair.decode, stickiness });
    const common = { keys, pins, tenantHeader, stickiness, checkModel };
    this.#needs = {
      prefill: { ...common, leg: 'prefill', policies: pair.prefill },
      decode: { ...common, leg: 'decode', policies: pair.decode },
    };
  }

  /** Of the part that is not split. */
  get policies(): ModelPolicies {
    return this.#single.policies;
  }

  decide(
    request: RoutingRequest,
    snapshot: WorkerSnapshot,
    now: number,
    random: Random,
    eligible: Eligibility | null = null,
    rehearsal: Rehearsal | null = null,
  ): Outcome {
    if (!snapshot.disaggregated) return this.#single.decide(request, snapshot, now, random, eligible, rehearsal);
    const roles = rolesOf(request.head);
    if (roles === 'none') return this.#refuse('endpoint_not_supported', 'decode', null, request);
    if (roles !== 'pair') {
      const pool = poolOf(roles, snapshot, request, eligible);
      if (pool.members.length === 0) return this.#nobody(roles, pool, request);
      const placer = roles === 'prefill' ? this.#prefillAlone : this.#decode;
      return this.#explained(placer.place(request, pool, now, random, rehearsal), pool);
    }
    const prefill = poolOf('prefill', snapshot, request, eligible);
    if (prefill.members.length === 0) return this.#nobody('prefill', prefill, request);
    const decode = poolOf('decode', snapshot, request, eligible);
    if (decode.members.length === 0) return this.#nobody('decode', decode, request);
    return this.#place(request, prefill, decode, now, random, rehearsal);
  }

  bodyNeed(head: RequestHead, snapshot: WorkerSnapshot, endpoint: Endpoint): BodyNeed {
    if (!snapshot.disaggregated) return this.#single.bodyNeed(head, snapshot, endpoint);
    const roles = rolesOf(head);
    const { prefill, decode } = this.#needs;
    if (roles === 'none') return null;
    if (roles !== 'pair') return bodyNeedOf(head, snapshot, endpoint, this.#needs[roles]);
    if (this.#pair.readsBodies) return 'pd';
    return bodyNeedOf(head, snapshot, endpoint, prefill) ?? bodyNeedOf(head, snapshot, endpoint, decode);
  }

  afterServed(pinKey: string, candidates: readonly string[], servedWorkerId: string): readonly string[] | null {
    return this.#single.afterServed(pinKey, candidates, servedWorkerId);
  }

  pinKeys(tenant: string | null, pool: Pool, leg: Leg, key: string): readonly string[] {
    if (leg === 'single') return this.#single.pinKeys(tenant, pool, leg, key);
    return (leg === 'prefill' ? this.#prefill : this.#decode).pinKeys(tenant, pool, key);
  }

  #place(
    request: RoutingRequest,
    prefill: Pool,
    decode: Pool,
    now: number,
    random: Random,
    rehearsal: Rehearsal | null,
  ): Outcome {
    const pairs = this.#pairing.of(prefill, decode);
    if (!pairs.possible) {
      return this.#refuse('no_compatible_pd_pair', 'prefill', this.#pairing.explain(prefill, decode), request);
    }
    const usable = pairs.prefillPart(prefill);
    let first = this.#prefill.place(request, usable, now, random, rehearsal);
    if (first.kind === 'refused') {
      // Where prefill workers could begin, it is the decode workers that cannot go on.
      const blocked = prefill.available.length > 0 && decode.available.length === 0;
      if (blocked) return this.#unavailable('decode', decode, request, first);
      return this.#sheds(prefill)
        ? this.#unavailable('prefill', prefill, request, first)
        : this.#explained(first, usable);
    }
    let partners = pairs.partnersOf(first.worker, decode);
    let second = this.#decode.place(request, partners, now, random, rehearsal);
    if (second.kind === 'refused' && partners.available.length === 0 && usable.available.length > 0) {
      // The partners of the pinned worker keep keys of their own only: the key goes where both legs can be placed.
      const open = { ...usable, members: usable.available };
      first = this.#prefill.place(request, open, now, random, rehearsal);
      if (first.kind === 'refused') return this.#explained(first, open);
      partners = pairs.partnersOf(first.worker, decode);
      second = this.#decode.place(request, partners, now, random, rehearsal);
    }
    return second.kind === 'refused'
      ? this.#explained(second, partners)
      : pairOf(first, second, partners.members !== decode.members);
  }

  #nobody(leg: PairedLeg, pool: Pool, request: RoutingRequest): Refusal {
    const detail = `No ${leg} workers available. Please check if ${leg} servers are configured and healthy.`;
    return this.#refuse('no_available_workers', leg, detail, request, pool.model);
  }

  /** No worker of a leg can take a request. */
  #unavailable(leg: PairedLeg, pool: Pool, request: RoutingRequest, first: Refusal): Refusal {
    const shed = this.#sheds(pool);
    const reason = shed ? 'worker_overload_protection_shed' : 'no_available_workers';
    const detail = shed ? null : unavailable(leg);
    return { ...this.#refuse(reason, leg, detail, request, pool.model), trail: first.trail };
  }

  #sheds(pool: Pool): boolean {
    return this.#options.shed && allOverloaded(pool);
  }

  /** Adds to a refusal of one leg what SMG says of it. */
  #explained(outcome: Outcome, pool: Pool): Outcome {
    if (outcome.kind === 'placed' || outcome.reason !== 'no_available_workers' || outcome.leg === 'single') {
      return outcome;
    }
    const { leg, policy } = outcome;
    const declined = pool.available.length > 0;
    const detail = declined ? `Policy ${policy} failed to select a ${leg} worker` : unavailable(leg);
    return { ...outcome, detail };
  }

  #refuse(
    reason: RefusalReason,
    leg: PairedLeg,
    detail: string | null,
    { model, head }: RoutingRequest,
    known = modelLabel(model),
  ): Refusal {
    const policy = this.#pair[leg].standard;
    const strict = isStrict(policy, head);
    return { kind: 'refused', reason, leg, detail, strict, policy: policy.name, model: known, trail: newTrail() };
  }
}

const NOBODY: Pool = { model: NO_MODEL, members: [], memberIds: [], available: [] };

/** Those of a leg that the request may use. A model that nobody knows has a pool without a name (SMG: no 404 here). */
function poolOf(
  leg: PairedLeg,
  snapshot: WorkerSnapshot,
  { model }: RoutingRequest,
  eligible: Eligibility | null,
): Pool {
  const pool = snapshot.pool(model, leg) ?? NOBODY;
  return eligible === null ? pool : eligiblePart(pool, eligible);
}

function unavailable(leg: PairedLeg): string {
  return `No available ${leg} workers (all circuits open or unhealthy)`;
}

/**
 * The decision on a pair is that on its decode leg, with the other in it.
 *
 * @param misfits whether there are decode workers that the prefill worker does not fit
 */
function pairOf(prefill: Decision, decode: Decision, misfits: boolean): Decision {
  const { worker, fallbacks, strict, policy, model, pinKey, loadKey, write, trail } = decode;
  const closed = strict || misfits;
  return { kind: 'placed', worker, fallbacks, strict, closed, policy, model, pinKey, loadKey, write, prefill, trail };
}
