import { type LoadKeyHash, PUBLIC_HASH } from './load-key-hash.ts';

/**
 * What the other replicas have in flight on one worker: the sum of what they tell. Outlives the instances of the worker,
 * which come and go in each replica at another moment.
 */
export class RemoteShare {
  #requests = 0;
  #distinctKeys = 0;
  readonly #byHash = new Map<number, number>();
  readonly #hash: LoadKeyHash;

  constructor(hash: LoadKeyHash) {
    this.#hash = hash;
  }

  get requests(): number {
    return this.#requests;
  }

  /** Summed over replicas: a key that is active at two of them counts twice. */
  get distinctKeys(): number {
    return this.#distinctKeys;
  }

  get isEmpty(): boolean {
    return this.#requests === 0 && this.#distinctKeys === 0 && this.#byHash.size === 0;
  }

  /** Requests of one load key. Keys of one hash count together: a new place for a key too early, once in billions. */
  ofKey(loadKey: string): number {
    return this.#byHash.size === 0 ? 0 : (this.#byHash.get(this.#hash.of(loadKey)) ?? 0);
  }

  /** A replica has so many more, or fewer, than it told before. */
  change(requests: number, distinctKeys: number): void {
    this.#requests += requests;
    this.#distinctKeys += distinctKeys;
  }

  changeKey(hash: number, requests: number): void {
    const count = (this.#byHash.get(hash) ?? 0) + requests;
    if (count === 0) this.#byHash.delete(hash);
    else this.#byHash.set(hash, count);
  }
}

/** Of every worker where replicas share nothing. Never written. */
export const NO_REMOTE_SHARE = new RemoteShare(PUBLIC_HASH);
