import type { Worker } from '../../workers/worker.ts';
import type { MemorySize, Placement, PolicyMemory } from '../policy.ts';
import type { CacheAwareParameters } from '../policy-parameters.ts';
import { BoundaryIndex, headKeys } from './boundary-index.ts';
import { ByModel } from './by-model.ts';

/**
 * Characters of a tree that one entry of the index stands for in the bound of its size: SMG has no bound for it. The
 * default of `--max-tree-size` makes about a million entries, some 150 MB.
 */
const CHARS_PER_ENTRY = 64;

/** What is remembered for one model. */
class ModelPlacements extends BoundaryIndex {
  /** Nothing is told of a worker before a prompt goes to it. */
  add(): void {}
}

/** What `cache_aware` remembers with `--cache-index hash` (policies 1.6.7). */
export class PlacementMemory implements PolicyMemory {
  readonly #parameters: CacheAwareParameters;
  readonly #maxEntries: number;
  readonly #models: ByModel<ModelPlacements>;

  constructor(parameters: CacheAwareParameters) {
    this.#parameters = parameters;
    this.#maxEntries = Math.max(1, Math.floor(parameters.maxTreeSize / CHARS_PER_ENTRY));
    this.#models = new ByModel(() => this.#new());
  }

  fits({ cacheBoundaries, cacheTtlMs, maxTreeSize }: CacheAwareParameters): boolean {
    const own = this.#parameters;
    return (
      cacheTtlMs === own.cacheTtlMs &&
      maxTreeSize === own.maxTreeSize &&
      cacheBoundaries.join() === own.cacheBoundaries.join()
    );
  }

  /** @param worker see `modelKeyOf` */
  of({ pool, now, rehearsal }: Placement, worker: Worker): BoundaryIndex {
    return rehearsal === null ? this.#models.of(pool, worker, now) : (this.#models.peek(pool, worker) ?? this.#new());
  }

  #new(): ModelPlacements {
    return new ModelPlacements({ ttlMs: this.#parameters.cacheTtlMs, maxEntries: this.#maxEntries });
  }

  /** Keys of the prompt's heads, shortest first; none when it is shorter than every boundary. */
  keysOf({ request: { prompt } }: Placement, tokens: Uint32Array): readonly string[] {
    return headKeys(this.#parameters.cacheBoundaries, tokens, prompt.namespace);
  }

  learn(placement: Placement, worker: Worker): void {
    const { tokens } = placement.request.prompt;
    if (tokens === null) return;
    const index = this.of(placement, placement.candidates[0] ?? worker);
    index.recordAll(this.keysOf(placement, tokens), worker.id, placement.now);
  }

  forget(workerId: string): void {
    this.#models.forget(workerId);
  }

  tend(now: number): boolean {
    return this.#models.some((index) => index.sweep(now));
  }

  sizes(): readonly MemorySize[] {
    return this.#models.map((model, index) => ({
      model,
      chars: null,
      tokens: null,
      textHolders: null,
      tokenHolders: null,
      placements: index.size,
    }));
  }
}
