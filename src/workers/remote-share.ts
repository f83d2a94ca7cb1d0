/**
 * What the other replicas have in flight on one worker: the sum of what they tell. Outlives the instances of the worker,
 * which come and go in each replica at another moment.
 */
export class RemoteShare {
  #requests = 0;
  #distinctKeys = 0;
  readonly #byHash = new Map<number, number>();

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
    return this.#byHash.size === 0 ? 0 : (this.#byHash.get(hashOfLoadKey(loadKey)) ?? 0);
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
export const NO_REMOTE_SHARE = new RemoteShare();

/**
 * 32 bits by which replicas speak of a load key, so that no key of a client leaves the process; a signed integer. FNV-1a, of
 * the characters at even and at odd places apart: each step of one waits for the step before, and so two go at a time.
 */
export function hashOfLoadKey(loadKey: string): number {
  let even = 0x811c9dc5;
  let odd = 0x811c9dc5;
  const { length } = loadKey;
  for (let i = 1; i < length; i += 2) {
    even = Math.imul(even ^ loadKey.charCodeAt(i - 1), 0x01000193);
    odd = Math.imul(odd ^ loadKey.charCodeAt(i), 0x01000193);
  }
  if ((length & 1) === 1) even = Math.imul(even ^ loadKey.charCodeAt(length - 1), 0x01000193);
  return Math.imul(even ^ (odd >>> 15), 0x85ebca6b) ^ odd;
}
