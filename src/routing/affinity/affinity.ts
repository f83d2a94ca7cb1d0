import { NO_WORKERS, type Worker } from '../../workers/worker.ts';
import type { Trail } from '../decision.ts';
import { ExpectedWait } from '../expected-wait.ts';
import { meanLoad } from '../mean-load.ts';
import type { Placement } from '../policy.ts';
import { type CacheAwareParameters, EXPECTED_WAIT_DEFAULTS } from '../policy-parameters.ts';
import type { Weight } from '../rehearsal.ts';
import { contenders, coolOf, HotGate } from './hot-gate.ts';
import { KvPressure } from './kv-pressure.ts';
import { decayByBacklog, rankedGroup } from './overlap.ts';

/**
 * Chooses between the workers that hold a prefix and all others (policies 1.6.4). Expected wait decides in the end, with its
 * built-in defaults and a ledger of its own (policies 1.6.2). O(eligible workers). Hot path.
 */
export class Affinity {
  readonly #gate: HotGate;
  readonly #pressure: KvPressure;
  readonly #decay: number;
  readonly #temperature: number;
  readonly #blockSize: number;
  readonly #wait = new ExpectedWait(EXPECTED_WAIT_DEFAULTS, 'current');

  // The last choice, so that `next` goes on from it without another look at what is remembered. It is known by its trail:
  // the placement would keep the whole body of its request alive.
  #trail: Trail | null = null;
  #candidates = NO_WORKERS;
  #holders = NO_WORKERS;
  #units = 0;

  constructor(parameters: CacheAwareParameters) {
    this.#gate = new HotGate(parameters.balanceAbsThreshold, parameters.balanceRelThreshold);
    this.#pressure = new KvPressure(parameters.overloadTokenUsageThreshold, parameters.balanceTokenUsageThreshold);
    this.#decay = Math.fround(parameters.overlapDecay);
    this.#temperature = Math.fround(parameters.selectionTemperature);
    this.#blockSize = parameters.blockSize;
  }

  /** True when the caches are in no state to attract anybody. */
  underPressure(eligible: readonly Worker[]): boolean {
    return this.#pressure.fires(eligible);
  }

  /** Whatever was remembered has no say. */
  chooseAny(placement: Placement): Worker | null {
    return this.chooseNear(placement, NO_WORKERS, 0);
  }

  /**
   * One of the holders, or another worker where they are too hot. The winner is credited with the request.
   *
   * @param holders eligible workers that hold the prefix
   * @param units length of the prompt in characters or tokens
   */
  chooseNear(placement: Placement, holders: readonly Worker[], units: number): Worker | null {
    const { candidates, random, trail, rehearsal } = placement;
    this.#trail = trail;
    this.#candidates = candidates;
    this.#holders = holders;
    this.#units = units;
    const requestTokens = placement.request.prompt.tokens?.length ?? 0;
    const among = contenders(this.#ranked(holders, placement), candidates, this.#gate, meanOf(holders, candidates));
    const only = among.length === 1 ? among[0] : undefined;
    if (only === undefined) return this.#wait.choose(among, requestTokens, random, rehearsal);
    // Credited also where there is no choice, or the holder of a hot prefix would look idle to all other prompts.
    this.#wait.credit(only, requestTokens, rehearsal);
    return only;
  }

  /**
   * Goes on in the same order, and to who is hot after all the others: see `Policy.next`. Where the last choice was another
   * one, load alone decides.
   */
  next(placement: Placement, taken: readonly Worker[]): Worker | null {
    const { candidates, random, trail } = placement;
    const holders = trail === this.#trail && candidates === this.#candidates ? this.#holders : NO_WORKERS;
    if (holders.length === 0) return this.#wait.next(candidates, taken, random);
    const mean = meanLoad(candidates);
    const group = this.#decay === 0 ? holders : this.#ranked(without(holders, taken), placement);
    return (
      this.#wait.next(coolOf(group, this.#gate, mean), taken, random) ??
      this.#wait.next(coolOf(candidates, this.#gate, mean), taken, random) ??
      this.#wait.next(candidates, taken, random)
    );
  }

  /** What the choice goes by beside what is remembered. */
  weigh(candidates: readonly Worker[], holders: readonly Worker[]): readonly Weight[] {
    const mean = meanLoad(candidates);
    const yes = (is: boolean) => (is ? 1 : 0);
    return [
      { name: 'holds_prefix', values: candidates.map((worker) => yes(holders.includes(worker))) },
      { name: 'hot', values: candidates.map(({ load }) => yes(this.#gate.isHot(load.requests, mean))) },
      this.#wait.weigh(candidates),
    ];
  }

  /** Without decay all holders of a tree score alike, which leaves nothing to rank. */
  #ranked(holders: readonly Worker[], { random }: Placement): readonly Worker[] {
    if (this.#decay === 0 || holders.length < 2) return holders;
    const scores = holders.map(() => 1);
    const blocks = Math.max(1, Math.floor(this.#units / this.#blockSize));
    decayByBacklog(scores, holders, this.#decay, this.#blockSize, blocks);
    return rankedGroup(holders, scores, this.#temperature, random);
  }
}

/** Nobody asks for the mean when there is no holder. */
function meanOf(holders: readonly Worker[], eligible: readonly Worker[]): number {
  return holders.length === 0 ? 0 : meanLoad(eligible);
}

function without(workers: readonly Worker[], taken: readonly Worker[]): readonly Worker[] {
  const left: Worker[] = [];
  for (const worker of workers) if (!taken.includes(worker)) left.push(worker);
  return left;
}
