import type { Worker } from '../../workers/worker.ts';

/** Tells workers that have too much in flight to attract more by what they hold (policies 1.6.4 step 3). Hot path. */
export class HotGate {
  readonly #abs: number;
  readonly #rel: number;

  /**
   * @param absThreshold requests above the mean
   * @param relThreshold multiple of the mean; single precision in SMG
   */
  constructor(absThreshold: number, relThreshold: number) {
    this.#abs = absThreshold;
    this.#rel = Math.fround(relThreshold);
  }

  /** @param mean requests in flight per eligible worker, the holders among them */
  isHot(requests: number, mean: number): boolean {
    return requests > mean * this.#rel && requests > mean + this.#abs;
  }
}

/**
 * Those among whom expected wait decides (policies 1.6.4 steps 3 and 4): who of the group is not hot, else who of the
 * eligible workers is not hot, else all of these. Never empty while anyone is eligible.
 *
 * @param group the holders that rank first; empty when no holder is eligible
 */
export function contenders(
  group: readonly Worker[],
  eligible: readonly Worker[],
  gate: HotGate,
  mean: number,
): readonly Worker[] {
  if (group.length === 0) return eligible;
  const cool = coolOf(group, gate, mean);
  if (cool.length > 0) return cool;
  const others = coolOf(eligible, gate, mean);
  return others.length > 0 ? others : eligible;
}

/** Who of them is not hot; the list itself where nobody is. */
export function coolOf(workers: readonly Worker[], gate: HotGate, mean: number): readonly Worker[] {
  let cool: Worker[] | null = null;
  for (let i = 0; i < workers.length; i++) {
    const worker = workers[i];
    if (worker === undefined) continue;
    if (gate.isHot(worker.load.requests, mean)) cool ??= workers.slice(0, i);
    else cool?.push(worker);
  }
  return cool ?? workers;
}
