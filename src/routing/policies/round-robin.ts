import { LruMap } from '../../util/lru-map.ts';
import type { Worker } from '../../workers/worker.ts';
import type { Placement, Policy } from '../policy.ts';

/** Candidate sets with a rotation of their own (policies 1.2); the least recently used one starts anew. */
const MAX_SETS = 4096;

/** One worker after the other, with one rotation for each distinct set of candidates (policies 1.2). */
export class RoundRobinPolicy implements Policy {
  readonly name = 'round_robin';
  readonly needsPrompt = false;

  /** Picks made from each set, by its ids. */
  private readonly counters = new LruMap<string, number>(MAX_SETS);
  /** Names of the sets at hand: a list of candidates keeps its identity between changes of the fleet. */
  private readonly names = new WeakMap<readonly Worker[], string>();

  pick({ candidates }: Placement): Worker | null {
    if (candidates.length === 0) return null;
    const set = this.nameOf(candidates);
    const count = this.counters.get(set) ?? 0;
    this.counters.set(set, count + 1);
    return candidates[count % candidates.length] ?? null;
  }

  /** Goes on in the rotation without moving it. */
  next({ candidates }: Placement, taken: readonly Worker[]): Worker | null {
    const count = this.counters.peek(this.nameOf(candidates)) ?? 0;
    for (let i = 0; i < candidates.length; i++) {
      const worker = candidates[(count + i) % candidates.length];
      if (worker !== undefined && !taken.includes(worker)) return worker;
    }
    return null;
  }

  private nameOf(candidates: readonly Worker[]): string {
    const known = this.names.get(candidates);
    if (known !== undefined) return known;
    // A worker id is a URL and holds no line feed.
    const name = candidates.map((worker) => worker.id).join('\n');
    this.names.set(candidates, name);
    return name;
  }
}
