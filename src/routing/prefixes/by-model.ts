import type { Pool } from '../../workers/snapshot.ts';
import type { Worker } from '../../workers/worker.ts';
import { MAX_MODELS, modelKeyOf } from './model-key.ts';

/** What is remembered for one model. */
export interface ModelMemory {
  /** A worker of the model; called again for one that is known. */
  add(workerId: string): void;
  forget(workerId: string, now: number): void;
}

interface Entry<M> {
  readonly memory: M;
  /** Workers of the model, as far as they were seen. */
  readonly workerIds: Set<string>;
  /** Lists whose workers were added: a list never changes, and requests with and without a model may take turns. */
  readonly added: WeakSet<readonly string[]>;
  usedAt: number;
}

/**
 * One memory for each model, made when it is first needed and gone with the model's last worker. At `MAX_MODELS` the one not
 * used for the longest time leaves. Look-up is hot path.
 */
export class ByModel<M extends ModelMemory> {
  readonly #create: () => M;
  readonly #entries = new Map<string, Entry<M>>();
  #now = 0;

  constructor(create: () => M) {
    this.#create = create;
  }

  /**
   * @param worker whose models count, where several can: see `modelKeyOf`
   * @param now milliseconds, monotonic
   */
  of(pool: Pool, worker: Worker, now: number): M {
    const key = modelKeyOf(pool, worker);
    let entry = this.#entries.get(key);
    if (entry === undefined) {
      if (this.#entries.size >= MAX_MODELS) this.#entries.delete(this.#leastRecentlyUsed());
      entry = { memory: this.#create(), workerIds: new Set(), added: new WeakSet(), usedAt: now };
      this.#entries.set(key, entry);
    }
    entry.usedAt = now;
    this.#now = now;
    if (!entry.added.has(pool.memberIds)) this.#register(entry, pool.memberIds);
    return entry.memory;
  }

  /** The same without making, registering or using one; undefined for a model that has none. */
  peek(pool: Pool, worker: Worker): M | undefined {
    return this.#entries.get(modelKeyOf(pool, worker))?.memory;
  }

  forget(workerId: string): void {
    for (const [key, entry] of this.#entries) {
      if (!entry.workerIds.delete(workerId)) continue;
      entry.memory.forget(workerId, this.#now);
      if (entry.workerIds.size === 0) this.#entries.delete(key);
    }
  }

  /** Visits each until `visit` answers true, and answers whether one did. */
  some(visit: (memory: M) => boolean): boolean {
    for (const { memory } of this.#entries.values()) if (visit(memory)) return true;
    return false;
  }

  /** @param tell gets the number of the model's workers too */
  map<T>(tell: (model: string, memory: M, workers: number) => T): T[] {
    return Array.from(this.#entries, ([model, { memory, workerIds }]) => tell(model, memory, workerIds.size));
  }

  #register(entry: Entry<M>, memberIds: readonly string[]): void {
    entry.added.add(memberIds);
    for (const id of memberIds) {
      entry.workerIds.add(id);
      entry.memory.add(id);
    }
  }

  #leastRecentlyUsed(): string {
    let oldest = '';
    let usedAt = Number.POSITIVE_INFINITY;
    for (const [key, entry] of this.#entries) {
      if (entry.usedAt >= usedAt) continue;
      oldest = key;
      usedAt = entry.usedAt;
    }
    return oldest;
  }
}
