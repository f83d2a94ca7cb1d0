import { LruMap } from '../../util/lru-map.ts';
import type { Worker } from '../../workers/worker.ts';
import { LengthBuckets } from '../length-buckets.ts';
import type { Placement, Policy } from '../policy.ts';
import { POLICY_FACTS } from '../policy-facts.ts';
import type { BucketParameters } from '../policy-parameters.ts';

/** Models with ranges of their own; the one used least recently begins anew. */
const MOST_MODELS = 256;

/** The worker for prompts of that length (policies 1.9). */
export class BucketPolicy implements Policy {
  readonly name = 'bucket';
  readonly facts = POLICY_FACTS.bucket;
  readonly memory = null;

  readonly #parameters: BucketParameters;
  readonly #models = new LruMap<string, LengthBuckets>(MOST_MODELS);

  constructor(parameters: BucketParameters) {
    this.#parameters = parameters;
  }

  pick({ request, pool, candidates, now, random }: Placement): Worker | null {
    let buckets = this.#models.get(pool.model);
    if (buckets === undefined) {
      buckets = new LengthBuckets(this.#parameters);
      this.#models.set(pool.model, buckets);
    }
    const { tokens, text } = request.prompt;
    // UTF-16 units for characters: the ranges are made of the same measure, and nothing has to be counted.
    return buckets.choose(pool.memberIds, candidates, tokens?.length ?? text?.length ?? 0, now, random);
  }

  next({ pool, candidates, random }: Placement, taken: readonly Worker[]): Worker | null {
    const buckets = this.#models.peek(pool.model) ?? new LengthBuckets(this.#parameters);
    return buckets.next(candidates, taken, random);
  }
}
