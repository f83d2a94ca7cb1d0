import { NO_WORKERS, type Worker } from '../../workers/worker.ts';
import { Affinity } from '../affinity/affinity.ts';
import { eligibleHolders } from '../affinity/eligible-holders.ts';
import type { Placement, Policy } from '../policy.ts';
import { POLICY_FACTS } from '../policy-facts.ts';
import type { CacheAwareParameters } from '../policy-parameters.ts';
import type { BoundaryIndex } from '../prefixes/boundary-index.ts';
import { PlacementMemory } from '../prefixes/placement-memory.ts';
import type { Weight } from '../rehearsal.ts';

/** `cache_aware` with hashes of heads of fixed lengths, remembered for a while (policies 1.6.7). Hot path. */
export class HashCacheAwarePolicy implements Policy {
  readonly name = 'cache_aware';
  readonly facts = POLICY_FACTS.cache_aware;
  readonly memory: PlacementMemory;

  readonly #affinity: Affinity;

  /** @param memory to go on with, if it fits */
  constructor(parameters: CacheAwareParameters, memory: PlacementMemory | null) {
    this.memory = memory?.fits(parameters) ? memory : new PlacementMemory(parameters);
    this.#affinity = new Affinity({ ...parameters, overlapDecay: 0, selectionTemperature: 0 });
  }

  pick(placement: Placement): Worker | null {
    const { candidates, request, trail, now, rehearsal } = placement;
    const first = candidates[0];
    if (first === undefined) return null;
    const { tokens } = request.prompt;
    if (tokens === null) {
      trail.cacheBranch = 'expected_wait_fallback';
      return this.#affinity.chooseAny(placement);
    }
    const keys = this.memory.keysOf(placement, tokens);
    if (keys.length === 0) {
      trail.cacheBranch = 'short_request';
      return this.#affinity.chooseAny(placement);
    }
    const index = this.memory.of(placement, first);
    const worker = this.#place(placement, index, keys);
    if (worker !== null && rehearsal === null) index.recordAll(keys, worker.id, now);
    return worker;
  }

  next(placement: Placement, taken: readonly Worker[]): Worker | null {
    return this.#affinity.next(placement, taken);
  }

  weigh(placement: Placement): readonly Weight[] {
    const { candidates, request, now } = placement;
    const first = candidates[0];
    if (first === undefined) return [];
    const index = this.memory.of(placement, first);
    const { tokens } = request.prompt;
    const keys = tokens === null ? [] : this.memory.keysOf(placement, tokens);
    const held = keys.map((key) => eligibleHolders(index.holders(key, now), candidates));
    return this.#affinity.weigh(candidates, held.findLast((holders) => holders.length > 0) ?? NO_WORKERS);
  }

  /** By the longest head that somebody eligible has seen lately. */
  #place(placement: Placement, index: BoundaryIndex, keys: readonly string[]): Worker | null {
    const { candidates, trail, now } = placement;
    if (this.#affinity.underPressure(candidates)) {
      trail.cacheBranch = 'kv_pressure_expected_wait';
      return this.#affinity.chooseAny(placement);
    }
    for (let i = keys.length - 1; i >= 0; i--) {
      const holders = eligibleHolders(index.holders(keys[i] ?? '', now), candidates);
      if (holders.length === 0) continue;
      const worker = this.#affinity.chooseNear(placement, holders, 0);
      trail.cacheBranch = worker !== null && holders.includes(worker) ? 'hash_hit' : 'hash_spill';
      return worker;
    }
    trail.cacheBranch = 'expected_wait_fallback';
    return this.#affinity.chooseAny(placement);
  }
}
