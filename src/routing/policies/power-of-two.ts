import { type Random, randomBelow } from '../../util/random.ts';
import type { Worker } from '../../workers/worker.ts';
import { ExpectedWait } from '../expected-wait.ts';
import type { Placement, Policy } from '../policy.ts';
import { EXPECTED_WAIT_DEFAULTS } from '../policy-parameters.ts';

const NONE: readonly number[] = [];

/** Of two workers drawn at random the one with the shorter expected wait, seen by the two alone (policies 1.4). */
export class PowerOfTwoPolicy implements Policy {
  readonly name = 'power_of_two';
  readonly needsPrompt = false;
  readonly needsLoads = true;
  readonly memory = null;

  readonly #wait = new ExpectedWait(EXPECTED_WAIT_DEFAULTS, 'recent');

  pick({ candidates, request, random }: Placement): Worker | null {
    const pair = drawPair(candidates, NONE, random);
    return this.#wait.choose(pair, request.prompt.tokens?.length ?? 0, random);
  }

  /** Draws another pair from the rest. */
  next({ candidates, random }: Placement, taken: readonly Worker[]): Worker | null {
    const places = taken.map((worker) => candidates.indexOf(worker)).filter((place) => place >= 0);
    places.sort((a, b) => a - b);
    return this.#wait.next(drawPair(candidates, places, random), taken, random);
  }
}

/** Two distinct candidates, every pair as likely; fewer where fewer are left. @param without places to pass over, ascending */
function drawPair(candidates: readonly Worker[], without: readonly number[], random: Random): readonly Worker[] {
  const count = candidates.length - without.length;
  const first = count > 1 ? randomBelow(random, count) : 0;
  const second = count > 1 ? (first + 1 + randomBelow(random, count - 1)) % count : 1;
  const pair: Worker[] = [];
  for (const drawn of [first, second]) {
    let place = drawn;
    for (const gap of without) if (gap <= place) place++;
    const worker = drawn < count ? candidates[place] : undefined;
    if (worker !== undefined) pair.push(worker);
  }
  return pair;
}
