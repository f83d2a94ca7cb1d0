import { type Random, randomBelow } from '../../util/random.ts';
import { NO_WORKERS, type Worker } from '../../workers/worker.ts';
import { ExpectedWait } from '../expected-wait.ts';
import type { Placement, Policy } from '../policy.ts';
import { POLICY_FACTS } from '../policy-facts.ts';
import { EXPECTED_WAIT_DEFAULTS } from '../policy-parameters.ts';
import type { Weight } from '../rehearsal.ts';

const NONE: readonly number[] = [];
/** Pairs that may hold a taken worker before the places of those are looked up. */
const DRAWS = 8;

/** Of two workers drawn at random the one with the shorter expected wait, seen by the two alone (policies 1.4). */
export class PowerOfTwoPolicy implements Policy {
  readonly name = 'power_of_two';
  readonly facts = POLICY_FACTS.power_of_two;
  readonly memory = null;

  readonly #wait = new ExpectedWait(EXPECTED_WAIT_DEFAULTS, 'recent');

  pick({ candidates, request, random, rehearsal }: Placement): Worker | null {
    const pair = drawPair(candidates, NONE, random);
    return this.#wait.choose(pair, request.prompt.tokens?.length ?? 0, random, rehearsal);
  }

  /** Of all, though only the two that are drawn are compared, by themselves. */
  weigh({ candidates }: Placement): readonly Weight[] {
    return [this.#wait.weigh(candidates)];
  }

  /** Draws another pair from the rest. */
  next({ candidates, random }: Placement, taken: readonly Worker[]): Worker | null {
    for (let i = 0; i < DRAWS && candidates.length > 1; i++) {
      const pair = drawPair(candidates, NONE, random);
      if (noneOf(taken, pair)) return this.#wait.next(pair, taken, random);
    }
    const places = taken.map((worker) => candidates.indexOf(worker)).filter((place) => place >= 0);
    places.sort((a, b) => a - b);
    return this.#wait.next(drawPair(candidates, places, random), taken, random);
  }
}

function noneOf(taken: readonly Worker[], pair: readonly Worker[]): boolean {
  for (const worker of pair) if (taken.includes(worker)) return false;
  return true;
}

/**
 * Two distinct candidates, every pair as likely; fewer where fewer are left.
 *
 * @param without places to pass over, ascending
 */
function drawPair(candidates: readonly Worker[], without: readonly number[], random: Random): readonly Worker[] {
  const count = candidates.length - without.length;
  if (count < 2) return candidates.filter((_, place) => !without.includes(place));
  const first = randomBelow(random, count);
  const second = (first + 1 + randomBelow(random, count - 1)) % count;
  const one = candidates[placeOf(first, without)];
  const other = candidates[placeOf(second, without)];
  return one === undefined || other === undefined ? NO_WORKERS : [one, other];
}

/** Place of the n-th candidate that is not passed over. */
function placeOf(n: number, without: readonly number[]): number {
  let place = n;
  for (const gap of without) if (gap <= place) place++;
  return place;
}
