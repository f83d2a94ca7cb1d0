import type { Worker } from '../../workers/worker.ts';
import { ExpectedWait } from '../expected-wait.ts';
import type { Placement, Policy } from '../policy.ts';
import { POLICY_FACTS } from '../policy-facts.ts';
import type { ExpectedWaitParameters } from '../policy-parameters.ts';
import type { Weight } from '../rehearsal.ts';

/** The worker with the shortest expected wait of all (policies 1.5). */
export class LeastLoadPolicy implements Policy {
  readonly name = 'least_load';
  readonly facts = POLICY_FACTS.least_load;
  readonly memory = null;

  readonly #wait: ExpectedWait;

  constructor(parameters: ExpectedWaitParameters) {
    this.#wait = new ExpectedWait(parameters, 'recent');
  }

  pick({ candidates, request, random, rehearsal }: Placement): Worker | null {
    return this.#wait.choose(candidates, request.prompt.tokens?.length ?? 0, random, rehearsal);
  }

  next({ candidates, random }: Placement, taken: readonly Worker[]): Worker | null {
    return this.#wait.next(candidates, taken, random);
  }

  weigh({ candidates }: Placement): readonly Weight[] {
    return [this.#wait.weigh(candidates)];
  }
}
