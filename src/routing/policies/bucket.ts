import type { Prompt } from '../../request/prompt.ts';
import { LruMap } from '../../util/lru-map.ts';
import type { Pool } from '../../workers/snapshot.ts';
import type { Worker } from '../../workers/worker.ts';
import type { Trail } from '../decision.ts';
import { LengthBuckets } from '../length-buckets.ts';
import type { Placement, Policy } from '../policy.ts';
import { POLICY_FACTS } from '../policy-facts.ts';
import type { BucketParameters } from '../policy-parameters.ts';
import type { Weight } from '../rehearsal.ts';

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

  /** Of a rehearsal, for `next`: what holds once the request is counted. Known by its trail. */
  #rehearsed: { readonly trail: Trail; readonly buckets: LengthBuckets } | null = null;

  pick({ request, pool, candidates, now, random, trail, rehearsal }: Placement): Worker | null {
    let buckets = rehearsal === null ? this.#models.get(pool.model) : this.#peek(pool).copy();
    if (buckets === undefined) {
      buckets = new LengthBuckets(this.#parameters);
      this.#models.set(pool.model, buckets);
    }
    this.#rehearsed = rehearsal === null ? null : { trail, buckets };
    return buckets.choose(pool.memberIds, candidates, lengthOf(request.prompt), now, random);
  }

  next({ pool, candidates, random, trail, rehearsal }: Placement, taken: readonly Worker[]): Worker | null {
    const rehearsed = this.#rehearsed;
    if (rehearsal !== null && rehearsed?.trail === trail) return rehearsed.buckets.next(candidates, taken, random);
    return this.#peek(pool).next(candidates, taken, random);
  }

  weigh({ request, pool, candidates, now }: Placement): readonly Weight[] {
    return this.#peek(pool).copy().weigh(pool.memberIds, candidates, lengthOf(request.prompt), now);
  }

  #peek(pool: Pool): LengthBuckets {
    return this.#models.peek(pool.model) ?? new LengthBuckets(this.#parameters);
  }
}

/** UTF-16 units for characters: the ranges are made of the same measure, and nothing has to be counted. */
function lengthOf({ tokens, text }: Prompt): number {
  return tokens?.length ?? text?.length ?? 0;
}
