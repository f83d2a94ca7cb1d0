import type { Worker } from '../../workers/worker.ts';
import { Affinity } from '../affinity/affinity.ts';
import { eligibleHolders } from '../affinity/eligible-holders.ts';
import type { Placement, Policy } from '../policy.ts';
import { POLICY_FACTS } from '../policy-facts.ts';
import type { CacheAwareParameters } from '../policy-parameters.ts';
import type { PrefixTree } from '../prefixes/prefix-tree.ts';
import { TreeMemory } from '../prefixes/tree-memory.ts';
import type { Weight } from '../rehearsal.ts';

/** `cache_aware` with prompts remembered whole, in trees (policies 1.6.5, 1.6.6). Hot path. */
export class TreeCacheAwarePolicy implements Policy {
  readonly name = 'cache_aware';
  readonly facts = POLICY_FACTS.cache_aware;
  readonly memory: TreeMemory;

  readonly #affinity: Affinity;
  readonly #threshold: number;

  /** @param memory to go on with, if it fits */
  constructor(parameters: CacheAwareParameters, memory: TreeMemory | null) {
    this.memory = memory?.fits(parameters) ? memory : new TreeMemory(parameters);
    this.#affinity = new Affinity(parameters);
    this.#threshold = Math.fround(parameters.cacheThreshold);
  }

  pick(placement: Placement): Worker | null {
    const first = placement.candidates[0];
    if (first === undefined) return null;
    const trees = this.memory.of(placement, first);
    const { prompt } = placement.request;
    const { tokens } = prompt;
    return tokens === null
      ? this.#place(placement, trees.text, prompt.text ?? '')
      : this.#place(placement, trees.tokens, tokens);
  }

  next(placement: Placement, taken: readonly Worker[]): Worker | null {
    return this.#affinity.next(placement, taken);
  }

  weigh(placement: Placement): readonly Weight[] {
    const { candidates, request } = placement;
    const { tokens, text, namespace } = request.prompt;
    const first = candidates[0];
    if (first === undefined) return [];
    const trees = this.memory.of(placement, first);
    const tree = tokens === null ? trees.text : trees.tokens;
    if (tokens === null) trees.text.match(text ?? '', namespace, false);
    else trees.tokens.match(tokens, namespace, false);
    return this.#affinity.weigh(candidates, eligibleHolders(tree.holders(), candidates));
  }

  #place<K extends string | Uint32Array>(placement: Placement, tree: PrefixTree<K>, key: K): Worker | null {
    const worker = this.#affinity.underPressure(placement.candidates)
      ? this.#byLoad(placement)
      : this.#byMatch(placement, tree, key);
    if (worker !== null && placement.rehearsal === null) {
      tree.insert(key, placement.request.prompt.namespace, worker.id);
    }
    return worker;
  }

  #byLoad(placement: Placement): Worker | null {
    placement.trail.cacheBranch = 'kv_pressure_expected_wait';
    return this.#affinity.chooseAny(placement);
  }

  #byMatch<K extends string | Uint32Array>(placement: Placement, tree: PrefixTree<K>, key: K): Worker | null {
    const { candidates, request, trail, rehearsal } = placement;
    const { matched, total } = tree.match(key, request.prompt.namespace, rehearsal === null);
    // Told in double precision and judged in single, as the real SMG does.
    trail.matchRatio = total === 0 ? 0 : matched / total;
    if (total === 0 || Math.fround(Math.fround(matched) / Math.fround(total)) <= this.#threshold) {
      trail.cacheBranch = 'expected_wait_fallback';
      return this.#affinity.chooseAny(placement);
    }
    const holders = tree.holders();
    const worker = this.#affinity.chooseNear(placement, eligibleHolders(holders, candidates), total);
    trail.cacheBranch = worker !== null && holders.includes(worker.id) ? 'tree_match' : 'spill';
    return worker;
  }
}
