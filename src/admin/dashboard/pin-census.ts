import type { PinStore } from '../../pins/pin-store.ts';
import type { WorkerSnapshot } from '../../workers/snapshot.ts';
import type { SnapshotSource } from '../../workers/snapshot-source.ts';

export interface PinCensusParts {
  readonly pins: Pick<PinStore, 'list'>;
  readonly fleet: SnapshotSource;
  /** Milliseconds, monotonic. */
  readonly clock: () => number;
}

/** Pins of each worker, by its id. */
export interface PinCount {
  readonly byWorker: ReadonlyMap<string, number>;
  /** When it was counted: milliseconds, monotonic. */
  readonly at: number;
}

/** Pins of one turn: some tens of microseconds, so that requests get theirs in between. */
const TURN = 500;
const SHORTEST_PAUSE_MS = 5_000;
/** A count of a million pins takes a fifth of a second in all: it may take a hundredth of a core. */
const PAUSE_PER_COUNTING_MS = 20;

/** Counts the pins of each worker while somebody looks, a few at a time. */
export class PinCensus {
  readonly #parts: PinCensusParts;
  #latest: PinCount | null = null;
  #turn: NodeJS.Immediate | null = null;
  #dueAt = Number.NEGATIVE_INFINITY;

  constructor(parts: PinCensusParts) {
    this.#parts = parts;
  }

  /** The last count, null before the first; begins another when it is old. */
  look(): PinCount | null {
    const now = this.#parts.clock();
    if (this.#turn === null && now >= this.#dueAt) this.#go(new Map(), null, now);
    return this.#latest;
  }

  close(): void {
    if (this.#turn !== null) clearImmediate(this.#turn);
    this.#dueAt = Number.POSITIVE_INFINITY;
  }

  #go(counts: Map<string, number>, cursor: string | null, begunAt: number): void {
    const { pins, fleet, clock } = this.#parts;
    const page = pins.list(TURN, cursor, clock());
    for (const { candidates } of page.pins) {
      const worker = holderOf(candidates, fleet.current);
      if (worker !== undefined) counts.set(worker, (counts.get(worker) ?? 0) + 1);
    }
    if (page.cursor !== null) {
      this.#turn = setImmediate(() => this.#go(counts, page.cursor, begunAt));
      return;
    }
    const now = clock();
    this.#turn = null;
    this.#latest = { byWorker: counts, at: now };
    this.#dueAt = now + Math.max(SHORTEST_PAUSE_MS, (now - begunAt) * PAUSE_PER_COUNTING_MS);
  }
}

/** Where the key goes by its pin; where nobody can serve it, the worker it would go to first. */
function holderOf(candidates: readonly string[], fleet: WorkerSnapshot): string | undefined {
  return candidates.find((id) => fleet.byId(id)?.keepsPins) ?? candidates[0];
}
