/** How much a cached prefix is worth on each of its holders (policies 1.6.4 steps 1 and 2). Hot path. */
import type { Random } from '../../util/random.ts';
import type { Worker } from '../../workers/worker.ts';

/**
 * Lowers the score of holders whose engine has more waiting than another holder's: what waits is worth as much as what is
 * cached. Holders without a current load report keep theirs.
 *
 * @param scores one per holder, changed in place
 * @param decay single precision in SMG; above 0
 * @param requestBlocks length of the request in blocks, at least 1
 */
export function decayByBacklog(
  scores: number[],
  holders: readonly Worker[],
  decay: number,
  blockSize: number,
  requestBlocks: number,
): void {
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < holders.length; i++) {
    const report = holders[i]?.engine.current ?? null;
    if (report !== null) least = Math.min(least, Math.max(0, report.waitingUncachedTokens));
  }
  for (let i = 0; i < holders.length; i++) {
    const report = holders[i]?.engine.current ?? null;
    if (report === null) continue;
    const surplus = (Math.max(0, report.waitingUncachedTokens) - least) / blockSize / requestBlocks;
    scores[i] = (scores[i] ?? 0) / (1 + decay * surplus);
  }
}

/**
 * The holders with one score: the highest at temperature 0, else the score of a holder drawn by its weight. Equal scores
 * leave nothing to rank.
 *
 * @param temperature single precision in SMG
 */
export function rankedGroup(
  holders: readonly Worker[],
  scores: readonly number[],
  temperature: number,
  random: Random,
): readonly Worker[] {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < scores.length; i++) {
    low = Math.min(low, scores[i] ?? 0);
    high = Math.max(high, scores[i] ?? 0);
  }
  if (low === high || holders.length === 0) return holders;
  const chosen = temperature > 0 ? drawn(scores, low, high, temperature, random) : high;
  const group: Worker[] = [];
  for (let i = 0; i < holders.length; i++) {
    const worker = holders[i];
    if (worker !== undefined && scores[i] === chosen) group.push(worker);
  }
  return group;
}

/** One of the scores, by the inverse of the summed weights. */
function drawn(scores: readonly number[], low: number, high: number, temperature: number, random: Random): number {
  let total = 0;
  for (let i = 0; i < scores.length; i++) total += weightOf(scores[i] ?? 0, low, high, temperature);
  let left = random() * total;
  for (let i = 0; i < scores.length; i++) {
    left -= weightOf(scores[i] ?? 0, low, high, temperature);
    if (left < 0) return scores[i] ?? high;
  }
  return high; // only rounding comes here
}

function weightOf(score: number, low: number, high: number, temperature: number): number {
  return Math.exp(((score - low) / (high - low) - 1) / temperature);
}
