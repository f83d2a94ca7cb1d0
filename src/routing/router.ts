/** Composition of keys, sticky selection and policies into one decision. Hot path. */
import type { RequestHead } from '../request/request-head.ts';
import type { RoutingRequest } from '../request/routing-request.ts';
import type { Random } from '../util/random.ts';
import type { WorkerSnapshot } from '../workers/snapshot.ts';
import type { Worker } from '../workers/worker.ts';
import type { AssignmentMode } from './assignment.ts';
import { type BodyNeed, bodyNeedOf } from './body-need.ts';
import { afterServed, type WriteMode } from './candidates.ts';
import { newTrail, type Outcome, type PinWrite, type Refusal, type Trail } from './decision.ts';
import { startOf } from './next-by-key.ts';
import { manualPinKey, overridePinKey } from './pin-key.ts';
import { manualMode } from './policies/manual.ts';
import type { Placement, Policy } from './policy.ts';
import {
  type HeaderKeyReader,
  type KeyRules,
  keyOf,
  loadKeyOf,
  readListedKey,
  readManualKey,
  readRingKey,
} from './routing-keys.ts';
import { anyKeepsPins, chooseSticky, type PinLookup, type StickyRules } from './sticky.ts';

export interface RouterOptions {
  readonly policy: Policy;
  readonly pins: PinLookup;
  readonly keys: KeyRules;
  /** Mode of the override (SMG: `delegate`). */
  readonly overrideMode: AssignmentMode;
  /** Mode of `manual` (SMG: `random`). */
  readonly manualMode: AssignmentMode;
  /** See `StickyRules.inflightCap`; `manual` has none (sticky-sessions 3.8). */
  readonly inflightCap: number;
  /** Workers named after the first, for Envoy's retries. */
  readonly fallbacks: number;
}

export interface Router {
  readonly policy: Policy;
  /**
   * Where a request goes. Writes nothing: a decision with a `write` holds once the caller committed that, and when the
   * commit shows that other candidates won, the caller decides again. Only a policy's own rotation moves.
   *
   * @param now milliseconds, monotonic
   */
  decide(request: RoutingRequest, snapshot: WorkerSnapshot, now: number, random: Random): Outcome;
  /** Whether the body must be read first: see `bodyNeedOf`. */
  bodyNeed(head: RequestHead, snapshot: WorkerSnapshot, ridReadable: boolean): BodyNeed;
  /** Candidates to store when another worker than the picked one served; null when they stay: see `afterServed`. */
  afterServed(candidates: readonly string[], servedWorkerId: string): readonly string[] | null;
}

/** What keeps keys on workers: the override, `manual`, or nothing (sticky-sessions 3.1). */
type Stickiness = 'override' | 'manual' | 'none';

const NO_WORKERS: readonly Worker[] = [];

export function createRouter(options: RouterOptions): Router {
  return new StickyRouter(options);
}

class StickyRouter implements Router {
  readonly policy: Policy;
  readonly #options: RouterOptions;
  readonly #stickiness: Stickiness;
  readonly #sticky: StickyRules;
  readonly #readHeader: HeaderKeyReader;

  constructor(options: RouterOptions) {
    const name = options.policy.name;
    this.policy = options.policy;
    this.#options = options;
    this.#stickiness = stickinessOf(options);
    this.#readHeader = name === 'manual' ? readManualKey : name === 'consistent_hashing' ? readRingKey : readListedKey;
    const manual = name === 'manual';
    this.#sticky = {
      mode: manual ? manualMode(options.manualMode) : options.overrideMode,
      write: writeModeOf(options),
      inflightCap: manual ? 0 : options.inflightCap,
    };
  }

  decide(request: RoutingRequest, snapshot: WorkerSnapshot, now: number, random: Random): Outcome {
    const trail = newTrail();
    const pool = snapshot.pool(request.model);
    if (pool === undefined) {
      const reason = request.model === '' ? 'no_available_workers' : 'model_not_found';
      return this.#refuse(reason, request.model === '' ? 'unknown' : request.model, trail);
    }

    const key = this.#stickyKeyOf(request, trail);
    const keyStart = key === null ? -1 : startOf(key);
    const placement: Placement = { request, pool, candidates: pool.available, now, random, trail, keyStart };
    const loadKey = this.#stickiness === 'override' ? key : loadKeyOf(request, this.#options.keys);
    return key === null ? this.#placeUnkeyed(placement, loadKey) : this.#placeKeyed(placement, key, loadKey);
  }

  bodyNeed(head: RequestHead, snapshot: WorkerSnapshot, ridReadable: boolean): BodyNeed {
    return bodyNeedOf(head, snapshot, ridReadable, this.#options.keys, this.#readHeader, this.policy);
  }

  afterServed(candidates: readonly string[], servedWorkerId: string): readonly string[] | null {
    return afterServed(candidates, servedWorkerId, this.#sticky.write);
  }

  #stickyKeyOf(request: RoutingRequest, trail: Trail): string | null {
    if (this.#stickiness === 'none') return null;
    return keyOf(request, this.#options.keys, this.#readHeader, this.#stickiness === 'override' ? trail : null);
  }

  #placeKeyed(placement: Placement, key: string, loadKey: string | null): Outcome {
    const { pool, trail } = placement;
    if (!anyKeepsPins(pool)) {
      trail.stickyBranch = 'no_healthy_workers';
      return this.#refuse('no_available_workers', pool.model, trail);
    }
    const pinKey =
      this.#stickiness === 'manual' ? manualPinKey('single', key) : overridePinKey(pool.model, 'single', key);
    const choice = chooseSticky(this.#sticky, this.policy, this.#options.pins, pinKey, loadKey, placement);
    if (choice === null || choice.worker === null) return this.#refuse('no_available_workers', pool.model, trail);
    return this.#place(placement, choice.worker, choice.other, pinKey, loadKey, choice.write);
  }

  #placeUnkeyed(placement: Placement, loadKey: string | null): Outcome {
    const { pool, trail } = placement;
    const nobody = placement.candidates.length === 0;
    if (this.#stickiness === 'manual') trail.stickyBranch = nobody ? 'no_healthy_workers' : 'no_routing_id';
    if (nobody && this.policy.name === 'consistent_hashing') trail.ringBranch = 'no_healthy_workers';
    const worker = nobody ? null : this.policy.pick(placement);
    if (worker === null) return this.#refuse('no_available_workers', pool.model, trail);
    return this.#place(placement, worker, null, null, loadKey, null);
  }

  #place(
    placement: Placement,
    worker: Worker,
    other: Worker | null,
    pinKey: string | null,
    loadKey: string | null,
    write: PinWrite | null,
  ): Outcome {
    const { pool, trail } = placement;
    const strict = trail.ringBranch === 'target_worker_hit';
    return {
      kind: 'placed',
      worker,
      fallbacks: strict ? NO_WORKERS : this.#fallbacksOf(placement, worker, other),
      strict,
      policy: this.policy.name,
      model: pool.model,
      pinKey,
      loadKey,
      write,
      trail,
    };
  }

  /** Where to go on: the other worker of the pin, then the policy's next best (sticky-sessions 11.4). */
  #fallbacksOf(placement: Placement, worker: Worker, other: Worker | null): readonly Worker[] {
    const most = this.#options.fallbacks;
    if (most <= 0) return NO_WORKERS;
    const taken = [worker];
    if (other !== null) taken.push(other);
    while (taken.length <= most) {
      const next = this.policy.next(placement, taken);
      if (next === null) break;
      taken.push(next);
    }
    return taken.slice(1);
  }

  #refuse(reason: Refusal['reason'], model: string, trail: Trail): Refusal {
    return { kind: 'refused', reason, policy: this.policy.name, model, trail };
  }
}

function stickinessOf(options: RouterOptions): Stickiness {
  if (options.policy.name === 'manual') return 'manual';
  return options.keys.override && options.policy.name !== 'consistent_hashing' ? 'override' : 'none';
}

/** Only a key that the override delegated stays where it went; all others return (sticky-sessions 3.6, 3.7). */
function writeModeOf(options: RouterOptions): WriteMode {
  return options.policy.name !== 'manual' && options.overrideMode === 'delegate' ? 'front' : 'behind';
}
