import type { RemoteShare } from '../workers/remote-share.ts';

/** Counts of one replica on one worker. What stands in it is so now, whatever was said before. */
export interface WorkerCounts {
  readonly worker: string;
  readonly requests: number;
  readonly distinctKeys: number;
  /** Of the load keys that changed: hash, count, hash, count and so on; 0 for one with nothing in flight. */
  readonly keys: readonly number[];
}

/** Sums over all workers of a replica, by which another one sees that it missed something. */
export interface LoadTotals {
  readonly requests: number;
  readonly distinctKeys: number;
  /** Hashes of keys in flight, and the requests of these keys. */
  readonly hashes: number;
  readonly keyRequests: number;
}

interface Counts {
  requests: number;
  distinctKeys: number;
  readonly byHash: Map<number, number>;
}

/** All counts of one replica, as it told them. Changes are passed on to the shares of the workers exactly. */
export class LoadState {
  readonly #shareOf: (worker: string) => RemoteShare | null;
  readonly #byWorker = new Map<string, Counts>();
  readonly #totals = { requests: 0, distinctKeys: 0, hashes: 0, keyRequests: 0 };

  /** @param shareOf where the counts add to those of other replicas; null for nowhere */
  constructor(shareOf: (worker: string) => RemoteShare | null) {
    this.#shareOf = shareOf;
  }

  get totals(): LoadTotals {
    return this.#totals;
  }

  matches(totals: LoadTotals): boolean {
    const own = this.#totals;
    return (
      own.requests === totals.requests &&
      own.distinctKeys === totals.distinctKeys &&
      own.hashes === totals.hashes &&
      own.keyRequests === totals.keyRequests
    );
  }

  requestsOf(worker: string): number {
    return this.#byWorker.get(worker)?.requests ?? 0;
  }

  distinctKeysOf(worker: string): number {
    return this.#byWorker.get(worker)?.distinctKeys ?? 0;
  }

  countOf(worker: string, hash: number): number {
    return this.#byWorker.get(worker)?.byHash.get(hash) ?? 0;
  }

  hashesOf(worker: string): Iterable<number> {
    return this.#byWorker.get(worker)?.byHash.keys() ?? [];
  }

  apply({ worker, requests, distinctKeys, keys }: WorkerCounts): void {
    const share = this.#shareOf(worker);
    let counts = this.#byWorker.get(worker);
    if (counts === undefined) {
      counts = { requests: 0, distinctKeys: 0, byHash: new Map() };
      this.#byWorker.set(worker, counts);
    }
    share?.change(requests - counts.requests, distinctKeys - counts.distinctKeys);
    this.#totals.requests += requests - counts.requests;
    this.#totals.distinctKeys += distinctKeys - counts.distinctKeys;
    counts.requests = requests;
    counts.distinctKeys = distinctKeys;
    for (let i = 0; i + 1 < keys.length; i += 2) this.#setKey(counts, keys[i] ?? 0, keys[i + 1] ?? 0, share);
    if (requests === 0 && distinctKeys === 0 && counts.byHash.size === 0) this.#byWorker.delete(worker);
  }

  /** Takes everything back. */
  clear(): void {
    for (const worker of [...this.#byWorker.keys()]) {
      const keys = [...this.hashesOf(worker)].flatMap((hash) => [hash, 0]);
      this.apply({ worker, requests: 0, distinctKeys: 0, keys });
    }
  }

  /** Everything, as one would tell it to somebody who knows nothing. */
  *all(): IterableIterator<WorkerCounts> {
    for (const [worker, { requests, distinctKeys, byHash }] of this.#byWorker) {
      yield { worker, requests, distinctKeys, keys: [...byHash].flat() };
    }
  }

  #setKey({ byHash }: Counts, hash: number, count: number, share: RemoteShare | null): void {
    const before = byHash.get(hash) ?? 0;
    if (count === before) return;
    if (count === 0) byHash.delete(hash);
    else byHash.set(hash, count);
    share?.changeKey(hash, count - before);
    this.#totals.keyRequests += count - before;
    if (before === 0) this.#totals.hashes += 1;
    else if (count === 0) this.#totals.hashes -= 1;
  }
}
