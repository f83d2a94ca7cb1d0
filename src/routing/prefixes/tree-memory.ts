import type { Worker } from '../../workers/worker.ts';
import type { MemorySize, Placement, PolicyMemory } from '../policy.ts';
import type { CacheAwareParameters } from '../policy-parameters.ts';
import { ByModel, type ModelMemory } from './by-model.ts';
import type { PrefixTree } from './prefix-tree.ts';
import { StringTree } from './string-tree.ts';
import { TokenTree } from './token-tree.ts';

type TreeParameters = Pick<CacheAwareParameters, 'maxTreeSize' | 'blockSize'>;

/** The two trees of a model: nothing carries over between them (policies 1.6.2). */
export class ModelTrees implements ModelMemory {
  readonly text: PrefixTree<string>;
  readonly tokens: PrefixTree<Uint32Array>;

  constructor(maxTreeSize: number, blockSize: number) {
    this.text = new StringTree(maxTreeSize);
    this.tokens = new TokenTree(maxTreeSize, blockSize);
  }

  /** The request went to the worker. */
  insert({ request: { prompt } }: Placement, workerId: string): void {
    const { tokens } = prompt;
    if (tokens === null) this.text.insert(prompt.text ?? '', prompt.namespace, workerId);
    else this.tokens.insert(tokens, prompt.namespace, workerId);
  }

  /** SMG registers workers in the text tree alone, which its gauge of tenants shows. */
  add(workerId: string): void {
    this.text.add(workerId);
  }

  forget(workerId: string): void {
    this.text.forget(workerId);
    this.tokens.forget(workerId);
  }
}

/** What `cache_aware` remembers with `--cache-index tree`. */
export class TreeMemory implements PolicyMemory {
  readonly #parameters: TreeParameters;
  readonly #models: ByModel<ModelTrees>;

  constructor(parameters: TreeParameters) {
    this.#parameters = parameters;
    this.#models = new ByModel(() => this.#new());
  }

  fits({ maxTreeSize, blockSize }: TreeParameters): boolean {
    return maxTreeSize === this.#parameters.maxTreeSize && blockSize === this.#parameters.blockSize;
  }

  /** @param worker see `modelKeyOf` */
  of({ pool, now, rehearsal }: Placement, worker: Worker): ModelTrees {
    return rehearsal === null ? this.#models.of(pool, worker, now) : (this.#models.peek(pool, worker) ?? this.#new());
  }

  #new(): ModelTrees {
    return new ModelTrees(this.#parameters.maxTreeSize, this.#parameters.blockSize);
  }

  /** The prompt alone: a pinned turn is mostly cached, so it counts for no wait, as it does not in SMG. */
  learn(placement: Placement, worker: Worker): void {
    this.of(placement, placement.candidates[0] ?? worker).insert(placement, worker.id);
  }

  forget(workerId: string): void {
    this.#models.forget(workerId);
  }

  /** The trees keep to their cap by themselves. What forgotten workers leave behind is freed here. */
  tend(): boolean {
    return this.#models.some(({ text, tokens }) => text.sweep() || tokens.sweep());
  }

  sizes(): readonly MemorySize[] {
    return this.#models.map((model, { text, tokens }, workers) => ({
      model,
      chars: text.size,
      tokens: tokens.size,
      textHolders: workers,
      tokenHolders: tokens.holderCount,
      placements: null,
    }));
  }
}
