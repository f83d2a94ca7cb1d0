import type { Worker } from '../../workers/worker.ts';
import type { PrefixBranch } from '../decision.ts';
import { loadLimit } from '../load-limit.ts';
import type { Placement, Policy } from '../policy.ts';
import type { PrefixHashParameters } from '../policy-parameters.ts';
import { prefixKey } from '../prefix-key.ts';
import { RingCache } from '../ring-cache.ts';
import type { KeyRules } from '../routing-keys.ts';

const NOBODY: readonly Worker[] = [];

/**
 * Owner of the prompt's beginning on the ring of its pool, unless that one has too much to do (policies 1.7). A ring exists
 * for every pool, so SMG's `fallback_least_load` does not occur.
 */
export class PrefixHashPolicy implements Policy {
  readonly name = 'prefix_hash';
  readonly needsPrompt = true;
  readonly needsLoads = false;
  readonly memory = null;

  readonly #parameters: PrefixHashParameters;
  readonly #rules: KeyRules;
  readonly #rings = new RingCache();
  #branch: PrefixBranch = 'no_routing_key';

  constructor(parameters: PrefixHashParameters, rules: KeyRules) {
    this.#parameters = parameters;
    this.#rules = rules;
  }

  pick(placement: Placement): Worker | null {
    const worker = this.#place(placement, NOBODY);
    placement.trail.prefixBranch = this.#branch;
    return worker;
  }

  /** Goes on by the same rule among the rest, clockwise from the same key. */
  next(placement: Placement, taken: readonly Worker[]): Worker | null {
    return this.#place(placement, taken);
  }

  #place({ request, pool, candidates }: Placement, taken: readonly Worker[]): Worker | null {
    const limit = loadLimit(candidates, this.#parameters);
    let deepest: Worker | null = null;
    for (let level = 0; ; level++) {
      const key = prefixKey(request, level, this.#rules, this.#parameters);
      if (key === null) break;
      const target = this.#rings.ownerOf(key, pool, candidates, taken);
      if (target === null) return null;
      if (target.load.requests <= limit) {
        this.#branch = 'ring_hit';
        return target;
      }
      deepest ??= target;
    }
    this.#branch = deepest === null ? 'no_routing_key' : 'load_balance_walk';
    const least = leastLoaded(candidates, taken);
    return deepest === null || (least !== null && least.load.requests <= limit) ? least : deepest;
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
