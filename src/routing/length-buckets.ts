import type { Random } from '../util/random.ts';
import { NO_WORKERS, type Worker } from '../workers/worker.ts';
import { evenBounds, firstBounds } from './length-bounds.ts';
import { LengthWindow, type Tally } from './length-window.ts';
import { lowest, roomFor } from './lowest.ts';
import type { BucketParameters } from './policy-parameters.ts';
import type { Weight } from './rehearsal.ts';

/**
 * The workers of one model, each with a range of prompt lengths that follows the traffic (policies 1.9). Mended against SMG:
 * a change of the membership takes the traffic at hand into account, requests leave the window by time alone, and only
 * candidates are compared and chosen.
 */
export class LengthBuckets {
  readonly #parameters: BucketParameters;
  #window: LengthWindow;
  #memberIds: readonly string[] = [];
  #tallies = new Map<string, Tally>();
  /** The tallies of lists of candidates, in their order. */
  #columns = new WeakMap<readonly Worker[], readonly Tally[]>();
  #bounds: Float64Array = new Float64Array();
  /** Load of a worker that the bounds were made for; 0: not yet for any. */
  #share = 0;
  #adjustedAt = Number.NEGATIVE_INFINITY;
  #sums: Float64Array = new Float64Array(16);

  constructor(parameters: BucketParameters) {
    this.#parameters = parameters;
    this.#window = new LengthWindow(parameters.adjustIntervalMs);
  }

  /** Upper bounds of the members' ranges, in their order. */
  get bounds(): readonly number[] {
    return [...this.#bounds];
  }

  /**
   * The candidate that a prompt of that length belongs to, which then counts on it. Null only without candidates.
   *
   * @param memberIds the same array as long as the membership is the same
   * @param now milliseconds, monotonic
   */
  choose(
    memberIds: readonly string[],
    candidates: readonly Worker[],
    length: number,
    now: number,
    random: Random,
  ): Worker | null {
    this.#upTo(memberIds, now);
    const column = this.#columnOf(candidates);
    const owner = this.#imbalanced(column) ? null : this.#ownerOf(length, candidates, column);
    const worker = owner ?? this.#least(candidates, column, NO_WORKERS, random);
    const tally = worker === null ? undefined : this.#tallies.get(worker.id);
    if (tally !== undefined) this.#window.add(length, now, tally);
    return worker;
  }

  /** The candidate with the least in the window that is not in `taken`, null when none is left. Counts nothing. */
  next(candidates: readonly Worker[], taken: readonly Worker[], random: Random): Worker | null {
    return this.#least(candidates, this.#columnOf(candidates), taken, random);
  }

  /** One that may be tried without changing this one. */
  copy(): LengthBuckets {
    const copy = new LengthBuckets(this.#parameters);
    const tallies = new Map<Tally, Tally>();
    copy.#window = this.#window.copy(tallies);
    copy.#memberIds = this.#memberIds;
    copy.#tallies = new Map(Array.from(this.#tallies, ([id, tally]) => [id, tallies.get(tally) ?? { sum: tally.sum }]));
    copy.#bounds = this.#bounds.slice();
    copy.#share = this.#share;
    copy.#adjustedAt = this.#adjustedAt;
    return copy;
  }

  /** What a choice would go by. As `choose`, but for counting it. */
  weigh(memberIds: readonly string[], candidates: readonly Worker[], length: number, now: number): readonly Weight[] {
    this.#upTo(memberIds, now);
    const column = this.#columnOf(candidates);
    const owner = this.#ownerOf(length, candidates, column);
    return [
      { name: 'lengths_up_to', values: candidates.map(({ id }) => finite(this.#bounds[this.#memberIds.indexOf(id)])) },
      { name: 'recent_length', values: column.map(({ sum }) => sum) },
      { name: 'range_is_its', values: candidates.map((worker) => (worker === owner ? 1 : 0)) },
    ];
  }

  /** Makes the ranges anew when a worker's share of the window has changed to more than double or less than half. */
  adjust(now: number): void {
    this.#adjustedAt = now;
    const workers = this.#bounds.length;
    if (this.#window.size === 0 || workers === 0) return;
    const share = Math.floor(this.#window.total / workers);
    if (this.#share !== 0 && share <= 2 * this.#share && this.#share <= 2 * share) return;
    this.#share = share;
    this.#bounds = evenBounds(this.#window.sortedLengths(), share, workers);
  }

  #upTo(memberIds: readonly string[], now: number): void {
    this.#window.expire(now);
    if (memberIds !== this.#memberIds) this.#follow(memberIds, now);
    if (now - this.#adjustedAt >= this.#parameters.adjustIntervalMs) this.adjust(now);
  }

  #follow(memberIds: readonly string[], now: number): void {
    const same = memberIds.length === this.#memberIds.length && memberIds.every((id, i) => id === this.#memberIds[i]);
    this.#memberIds = memberIds;
    if (same) return;
    this.#tallies = new Map(memberIds.map((id) => [id, this.#tallies.get(id) ?? { sum: 0 }]));
    this.#columns = new WeakMap();
    this.#bounds = firstBounds(memberIds.length);
    this.#share = 0;
    this.adjust(now);
  }

  /** One worker has much more than another, both by difference and by ratio. */
  #imbalanced(column: readonly Tally[]): boolean {
    let least = Number.POSITIVE_INFINITY;
    let most = 0;
    for (const { sum } of column) {
      if (sum < least) least = sum;
      if (sum > most) most = sum;
    }
    const { balanceAbsThreshold, balanceRelThreshold } = this.#parameters;
    return (
      most - least > balanceAbsThreshold &&
      Math.fround(most) > Math.fround(Math.fround(balanceRelThreshold) * Math.fround(least))
    );
  }

  /** The candidate whose range a length is in; null when that worker is no candidate. */
  #ownerOf(length: number, candidates: readonly Worker[], column: readonly Tally[]): Worker | null {
    const bounds = this.#bounds;
    let bucket = 0;
    while (bucket < bounds.length - 1 && length > (bounds[bucket] ?? 0)) bucket++;
    const tally = this.#tallies.get(this.#memberIds[bucket] ?? '');
    return tally === undefined ? null : (candidates[column.indexOf(tally)] ?? null);
  }

  #least(
    candidates: readonly Worker[],
    column: readonly Tally[],
    taken: readonly Worker[],
    random: Random,
  ): Worker | null {
    this.#sums = roomFor(this.#sums, column.length);
    for (let i = 0; i < column.length; i++) this.#sums[i] = column[i]?.sum ?? 0;
    return lowest(this.#sums, candidates, taken, random);
  }

  #columnOf(candidates: readonly Worker[]): readonly Tally[] {
    const known = this.#columns.get(candidates);
    if (known !== undefined) return known;
    const column = candidates.map((worker) => this.#tallies.get(worker.id) ?? { sum: 0 });
    this.#columns.set(candidates, column);
    return column;
  }
}

/** The last range has no end. */
function finite(bound: number | undefined): number | null {
  return bound === undefined || !Number.isFinite(bound) ? null : bound;
}
