import type { WorkerInstance } from './worker-instance.ts';
import { overlap, type WorkerUrl } from './worker-url.ts';

/** The registrations, in order, and how they are found. */
export class InstanceTable {
  #byId = new Map<string, WorkerInstance>();

  get all(): Iterable<WorkerInstance> {
    return this.#byId.values();
  }

  get(id: string): WorkerInstance | undefined {
    return this.#byId.get(id);
  }

  holds(instance: WorkerInstance): boolean {
    return this.#byId.get(instance.id) === instance;
  }

  /** Who stands for what was declared under `id`: that worker, or the ranks of that engine. */
  declared(id: string): readonly WorkerInstance[] {
    const own = this.#byId.get(id);
    if (own !== undefined && !own.asksRanks) return [own];
    return [...this.#byId.values()].filter((instance) => instance.declaredId === id);
  }

  /** Who is meant by `id` when it comes from an operator: a worker, or all ranks of an engine by its base URL. */
  named(id: string): readonly WorkerInstance[] {
    const own = this.#byId.get(id);
    return own === undefined ? this.declared(id) : [own];
  }

  /** The first that a worker at this URL would be the same as, or a part of. */
  overlapping(url: WorkerUrl): WorkerInstance | undefined {
    const own = this.#byId.get(url.id);
    if (own !== undefined) return own;
    for (const instance of this.#byId.values()) if (overlap(instance.spec.url, url)) return instance;
    return undefined;
  }

  add(instance: WorkerInstance): void {
    this.#byId.set(instance.id, instance);
  }

  delete(instance: WorkerInstance): void {
    if (this.holds(instance)) this.#byId.delete(instance.id);
  }

  moveToEnd(instance: WorkerInstance): void {
    this.#byId.delete(instance.id);
    this.#byId.set(instance.id, instance);
  }

  /** Puts `next` where the first of `previous` stands; those of `previous` that are not in it follow. */
  rearrange(previous: readonly WorkerInstance[], next: readonly WorkerInstance[]): void {
    const moved = new Set([...next, ...previous]);
    const order: WorkerInstance[] = [];
    for (const instance of this.#byId.values()) {
      if (instance === previous[0]) order.push(...moved);
      else if (!moved.has(instance)) order.push(instance);
    }
    this.#byId = new Map(order.map((instance) => [instance.id, instance]));
  }
}
