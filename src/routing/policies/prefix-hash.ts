import { NO_WORKERS, type Worker } from '../../workers/worker.ts';
import type { Trail } from '../decision.ts';
import { loadLimit } from '../load-limit.ts';
import type { Placement, Policy } from '../policy.ts';
import { POLICY_FACTS } from '../policy-facts.ts';
import type { PrefixHashParameters } from '../policy-parameters.ts';
import { prefixKey } from '../prefix-key.ts';
import type { Weight } from '../rehearsal.ts';
import { RingCache } from '../ring-cache.ts';
import { ringOrder } from '../ring-order.ts';
import type { KeyRules } from '../routing-keys.ts';

/**
 * Owner of the prompt's beginning on the ring of its pool, unless that one has too much to do (policies 1.7). A ring exists
 * for every pool, so SMG's `fallback_least_load` does not occur.
 */
export class PrefixHashPolicy implements Policy {
  readonly name = 'prefix_hash';
  readonly facts = POLICY_FACTS.prefix_hash;
  readonly memory = null;

  readonly #parameters: PrefixHashParameters;
  readonly #rules: KeyRules;
  readonly #rings = new RingCache();
  /** Keys of the request placed last, for where to go on. It is known by its trail: a request would keep its body alive. */
  #trail: Trail | null = null;
  readonly #keys: (string | null)[] = [];

  constructor(parameters: PrefixHashParameters, rules: KeyRules) {
    this.#parameters = parameters;
    this.#rules = rules;
  }

  pick(placement: Placement): Worker | null {
    this.#trail = null;
    return this.#place(placement, NO_WORKERS, true);
  }

  weigh(placement: Placement): readonly Weight[] {
    const { pool, candidates } = placement;
    const key = this.#keyOf(placement, 0);
    const limit = loadLimit(candidates, this.#parameters);
    const over: Weight = {
      name: 'over_load_limit',
      values: candidates.map(({ load }) => (load.requests > limit ? 1 : 0)),
    };
    if (key === null) return [over];
    return [ringOrder(candidates, (taken) => this.#rings.ownerOf(key, pool, candidates, taken)), over];
  }

  /** Goes on by the same rule among the rest, clockwise from the same key. */
  next(placement: Placement, taken: readonly Worker[]): Worker | null {
    return this.#place(placement, taken, false);
  }

  /** @param noted whether the trail gets the branch */
  #place(placement: Placement, taken: readonly Worker[], noted: boolean): Worker | null {
    const { pool, candidates, trail } = placement;
    const limit = loadLimit(candidates, this.#parameters);
    let level = 0;
    for (; ; level++) {
      const key = this.#keyOf(placement, level);
      if (key === null) break;
      const target = this.#rings.ownerOf(key, pool, candidates, taken);
      if (target === null || target.load.requests > limit) continue;
      if (noted) trail.prefixBranch = 'ring_hit';
      return target;
    }
    if (noted) trail.prefixBranch = level === 0 ? 'no_routing_key' : 'load_balance_walk';
    // Of all candidates the least loaded has at most the mean, so that it always passes.
    return leastLoaded(candidates, taken);
  }

  /** Levels are asked for in their order. */
  #keyOf({ request, trail }: Placement, level: number): string | null {
    if (trail !== this.#trail) {
      this.#trail = trail;
      this.#keys.length = 0;
    }
    let key = this.#keys[level];
    if (key === undefined) {
      key = prefixKey(request, level, this.#rules, this.#parameters);
      this.#keys.push(key);
    }
    return key;
  }
}

/** The first of those with the fewest requests in flight. */
function leastLoaded(candidates: readonly Worker[], taken: readonly Worker[]): Worker | null {
  let least: Worker | null = null;
  for (const worker of candidates) {
    if ((least === null || worker.load.requests < least.load.requests) && !taken.includes(worker)) least = worker;
  }
  return least;
}
