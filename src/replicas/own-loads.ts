import type { SharedLoad, SharedLoads } from '../workers/shared-loads.ts';
import { LoadState, type LoadTotals, type WorkerCounts } from './load-state.ts';

/** What this replica told the others of its counts, and what it has to tell. */
export class OwnLoads {
  readonly #loads: SharedLoads;
  readonly #told = new LoadState(() => null);

  constructor(loads: SharedLoads) {
    this.#loads = loads;
  }

  get totals(): LoadTotals {
    return this.#told.totals;
  }

  /** Everything that was told. */
  all(): WorkerCounts[] {
    return [...this.#told.all()];
  }

  /** Only what cannot wait: workers on which a key has fewer requests than was told. */
  takeFalls(): WorkerCounts[] {
    const changes: WorkerCounts[] = [];
    for (const load of this.#loads.changed) {
      const counts = new Map<number, number>();
      this.#countFalls(load, counts);
      if (counts.size > 0) this.#tell(load, counts, changes);
    }
    return changes;
  }

  /** All that is due. The time between two calls is how long a rise of a key has to last before it is told. */
  takeAll(): WorkerCounts[] {
    const changes: WorkerCounts[] = [];
    for (const load of this.#loads.changed) {
      const counts = new Map<number, number>();
      if (load.takeRenewal()) for (const hash of this.#told.hashesOf(load.workerId)) counts.set(hash, 0);
      this.#countFalls(load, counts);
      for (const [key, rise] of load.keys.takeRises()) this.#countKey(load, counts, key, rise);
      this.#tell(load, counts, changes);
    }
    this.#loads.settle();
    return changes;
  }

  #countFalls(load: SharedLoad, counts: Map<number, number>): void {
    for (const [key, fall] of load.keys.takeFalls()) this.#countKey(load, counts, key, -fall);
  }

  /** Keys of one hash count together. */
  #countKey({ workerId }: SharedLoad, counts: Map<number, number>, key: string, change: number): void {
    const hash = this.#loads.hash.of(key);
    counts.set(hash, (counts.get(hash) ?? this.#told.countOf(workerId, hash)) + change);
  }

  #tell({ workerId, own }: SharedLoad, keys: ReadonlyMap<number, number>, changes: WorkerCounts[]): void {
    const requests = own?.ownRequests ?? 0;
    const distinctKeys = own?.ownDistinctKeys ?? 0;
    const known = this.#told.requestsOf(workerId) === requests && this.#told.distinctKeysOf(workerId) === distinctKeys;
    if (known && keys.size === 0) return;
    const counts = { worker: workerId, requests, distinctKeys, keys: [...keys].flat() };
    this.#told.apply(counts);
    changes.push(counts);
  }
}
