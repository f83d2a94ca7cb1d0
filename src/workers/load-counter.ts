import type { WorkerLoad } from './worker.ts';

/** Counts of one worker instance. Only the in-flight ledger adds and removes. */
export class LoadCounter implements WorkerLoad {
  #requests = 0;
  readonly #byKey = new Map<string, number>();

  get requests(): number {
    return this.#requests;
  }

  get distinctKeys(): number {
    return this.#byKey.size;
  }

  ofKey(loadKey: string): number {
    return this.#byKey.get(loadKey) ?? 0;
  }

  add(loadKey: string | null): void {
    this.#requests += 1;
    if (loadKey !== null) this.#byKey.set(loadKey, this.ofKey(loadKey) + 1);
  }

  /** Takes back one `add` of the same key; never below zero (policies 2.5). */
  remove(loadKey: string | null): void {
    if (this.#requests > 0) this.#requests -= 1;
    if (loadKey === null) return;
    const left = this.ofKey(loadKey) - 1;
    if (left > 0) this.#byKey.set(loadKey, left);
    else this.#byKey.delete(loadKey);
  }

  /** The writable side of a worker's load. Throws for a load that no registry made: a bug, never an input. */
  static of(load: WorkerLoad): LoadCounter {
    if (load instanceof LoadCounter) return load;
    throw new TypeError('the load of a worker must be a LoadCounter to be written');
  }
}
