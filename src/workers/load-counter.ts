import { NO_REMOTE_SHARE, type RemoteShare } from './remote-share.ts';
import type { WorkerLoad } from './worker.ts';

/** Who is to hear of each change of a counter, in order to tell other replicas. */
export interface LoadListener {
  /** @param loadKey null for a request without one */
  added(counter: LoadCounter, loadKey: string | null): void;
  removed(counter: LoadCounter, loadKey: string | null): void;
}

/** Counts of one worker instance. Only the in-flight ledger adds and removes. */
export class LoadCounter implements WorkerLoad {
  #requests = 0;
  readonly #byKey = new Map<string, number>();
  readonly #remote: RemoteShare;
  readonly #listener: LoadListener | null;

  /** @param listener null where replicas share nothing */
  constructor(remote: RemoteShare = NO_REMOTE_SHARE, listener: LoadListener | null = null) {
    this.#remote = remote;
    this.#listener = listener;
  }

  get requests(): number {
    return this.#requests + this.#remote.requests;
  }

  get distinctKeys(): number {
    return this.#byKey.size + this.#remote.distinctKeys;
  }

  get ownRequests(): number {
    return this.#requests;
  }

  get ownDistinctKeys(): number {
    return this.#byKey.size;
  }

  ofKey(loadKey: string): number {
    return this.#ownOfKey(loadKey) + this.#remote.ofKey(loadKey);
  }

  add(loadKey: string | null): void {
    this.#requests += 1;
    if (loadKey !== null) this.#byKey.set(loadKey, this.#ownOfKey(loadKey) + 1);
    this.#listener?.added(this, loadKey);
  }

  /** Takes back one `add` of the same key; never below zero (policies 2.5). */
  remove(loadKey: string | null): void {
    if (this.#requests > 0) this.#requests -= 1;
    const count = loadKey === null ? 0 : this.#ownOfKey(loadKey);
    const key = count === 0 ? null : loadKey;
    if (key !== null) {
      if (count > 1) this.#byKey.set(key, count - 1);
      else this.#byKey.delete(key);
    }
    this.#listener?.removed(this, key);
  }

  #ownOfKey(loadKey: string): number {
    return this.#byKey.get(loadKey) ?? 0;
  }

  /** The writable side of a worker's load. Throws for a load that no registry made: a bug, never an input. */
  static of(load: WorkerLoad): LoadCounter {
    if (load instanceof LoadCounter) return load;
    throw new TypeError('the load of a worker must be a LoadCounter to be written');
  }
}
