import { LruMap } from '../../util/lru-map.ts';
import { xxh3 } from '../../util/xxh3.ts';
import type { Worker } from '../../workers/worker.ts';
import { nextByKey } from '../next-by-key.ts';
import type { Placement, Policy } from '../policy.ts';
import { POLICY_FACTS } from '../policy-facts.ts';
import type { Weight } from '../rehearsal.ts';

/** Candidate sets with a rotation of their own (policies 1.2); the least recently used one starts anew. */
const MAX_SETS = 4096;

/**
 * One worker after the other, with one rotation for each distinct set of candidates (policies 1.2). Where the rotation of a
 * new set starts is observed of SMG 1.11: the first set at its first worker, the second at its second, and so on.
 */
export class RoundRobinPolicy implements Policy {
  readonly name = 'round_robin';
  readonly facts = POLICY_FACTS.round_robin;
  readonly memory = null;

  /** Where the rotation of each set stands, by the hash of its ids: those of a thousand workers take 25 KB. */
  readonly #counters = new LruMap<string, number>(MAX_SETS);
  /** Names of the sets at hand: a list of candidates keeps its identity between changes of the fleet. */
  readonly #names = new WeakMap<readonly Worker[], string>();

  pick({ candidates, rehearsal }: Placement): Worker | null {
    if (candidates.length === 0) return null;
    const set = this.#nameOf(candidates);
    const count = this.#countOf(set);
    if (rehearsal === null) this.#counters.set(set, count + 1);
    return candidates[count % candidates.length] ?? null;
  }

  /** Goes on by key; without one from the rotation's place, and each round from one further, so that no worker is always next. */
  next({ candidates, keyStart, rehearsal }: Placement, taken: readonly Worker[]): Worker | null {
    if (keyStart >= 0) return nextByKey(candidates, taken, keyStart);
    const size = candidates.length;
    const set = this.#nameOf(candidates);
    // A rehearsal left out the step that its pick would have made.
    const count = rehearsal === null ? (this.#counters.peek(set) ?? 0) : this.#countOf(set) + 1;
    const round = Math.max(0, Math.floor((count - 1) / size));
    const start = count + (size > 1 ? round % (size - 1) : 0);
    for (let i = 0; i < size; i++) {
      const worker = candidates[(start + i) % size];
      if (worker !== undefined && !taken.includes(worker)) return worker;
    }
    return null;
  }

  weigh({ candidates }: Placement): readonly Weight[] {
    const size = candidates.length;
    const count = size === 0 ? 0 : this.#countOf(this.#nameOf(candidates));
    return [{ name: 'turn', values: candidates.map((_, place) => (((place - count) % size) + size) % size) }];
  }

  /** A new set starts as far on as there are sets, as SMG does: small sets that come one after the other share no first. */
  #countOf(set: string): number {
    return this.#counters.peek(set) ?? this.#counters.size;
  }

  #nameOf(candidates: readonly Worker[]): string {
    const known = this.#names.get(candidates);
    if (known !== undefined) return known;
    // A worker id is a URL and holds no line feed.
    const name = xxh3(Buffer.from(candidates.map((worker) => worker.id).join('\n')));
    this.#names.set(candidates, name);
    return name;
  }
}
