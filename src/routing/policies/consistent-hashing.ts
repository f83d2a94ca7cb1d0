import { parseWorkerIndex, readTargetWorker } from '../../request/target-worker.ts';
import { randomBelow } from '../../util/random.ts';
import { NO_WORKERS, type Worker } from '../../workers/worker.ts';
import { assign } from '../assignment.ts';
import type { Trail } from '../decision.ts';
import type { Placement, Policy } from '../policy.ts';
import { POLICY_FACTS } from '../policy-facts.ts';
import type { Weight } from '../rehearsal.ts';
import { RingCache } from '../ring-cache.ts';
import { ringOrder } from '../ring-order.ts';
import { type KeyRules, ringKeyOf } from '../routing-keys.ts';

/**
 * Owner of the request's key on the ring of its pool; a target worker named by the client comes first, and without any key
 * it is any worker (policies 1.8).
 */
export class ConsistentHashingPolicy implements Policy {
  readonly name = 'consistent_hashing';
  readonly facts = POLICY_FACTS.consistent_hashing;
  readonly memory = null;

  readonly #rules: KeyRules;
  readonly #rings = new RingCache();
  /** The key of the request placed last, for where to go on. It is known by its trail: a request would keep its body alive. */
  #trail: Trail | null = null;
  #key: string | null = null;

  constructor(rules: KeyRules) {
    this.#rules = rules;
  }

  pick(placement: Placement): Worker | null {
    const { request, candidates, trail, random } = placement;
    const target = readTargetWorker(request.head);
    if (target !== null) {
      const worker = targetOf(target, candidates);
      trail.ringBranch = worker === null ? 'target_worker_miss' : 'target_worker_hit';
      return worker;
    }
    this.#trail = null;
    const owner = this.#owner(placement, NO_WORKERS);
    if (owner !== null) {
      trail.ringBranch = 'routing_key_hit';
      return owner;
    }
    trail.ringBranch = 'random_fallback';
    return candidates[randomBelow(random, candidates.length)] ?? null;
  }

  weigh(placement: Placement): readonly Weight[] {
    if (ringKeyOf(placement.request, this.#rules) === null) return [];
    return [ringOrder(placement.candidates, (taken) => this.#owner(placement, taken))];
  }

  /** Goes on clockwise from the key; without a key it is any of the rest. */
  next(placement: Placement, taken: readonly Worker[]): Worker | null {
    return this.#owner(placement, taken) ?? assign('random', placement.candidates, placement.random, taken);
  }

  #owner({ request, pool, candidates, trail }: Placement, taken: readonly Worker[]): Worker | null {
    if (trail !== this.#trail) {
      this.#key = ringKeyOf(request, this.#rules);
      this.#trail = trail;
    }
    return this.#key === null ? null : this.#rings.ownerOf(this.#key, pool, candidates, taken);
  }
}

/**
 * The worker a client names: by its index among the candidates, by its id, or by `host:port` of its URL or its address
 * (sticky-sessions 1.4, decisions 3), with or without its rank. Null is a miss.
 */
function targetOf(target: string, candidates: readonly Worker[]): Worker | null {
  const index = parseWorkerIndex(target);
  if (index !== 'invalid') return candidates[index] ?? null;
  for (const worker of candidates) if (worker.id === target || authorityOf(worker.id) === target) return worker;
  for (const worker of candidates) {
    if (worker.address === target || authorityOf(worker.url) === target) return worker;
  }
  return null;
}

function authorityOf(url: string): string {
  const start = url.indexOf('://') + 3;
  const end = url.indexOf('/', start);
  return end < 0 ? url.slice(start) : url.slice(start, end);
}
