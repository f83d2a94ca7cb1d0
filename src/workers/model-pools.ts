import { NO_MODEL, type Pool } from './snapshot.ts';
import type { Worker } from './worker.ts';

/** A worker as the builder of snapshots takes it. */
export interface FleetEntry {
  readonly worker: Worker;
  /** False until its model list was declared, answered or given up: till then an empty list does not mean "any". */
  readonly modelsKnown: boolean;
}

/** A longer name of a model that nobody lists counts as none: it would be kept in pins and metrics as it came. */
const MAX_MODEL_LENGTH = 256;

/** The pools of the workers of one type. */
export class ModelPools {
  /** Of requests that name no model. */
  readonly #everyone: Pool;
  /** Pools of the models that some worker lists. */
  readonly #pools: ReadonlyMap<string, Pool>;
  /** For a model that nobody lists: who serves any model, or may turn out to serve it. */
  readonly #unlisted: Pool;

  /** @param previous whose pools are kept wherever nothing changed */
  constructor(entries: readonly FleetEntry[], previous: ModelPools | null) {
    const everyone = entries.map((entry) => entry.worker);
    const open = everyone.filter((worker) => worker.models.length === 0);

    const whole = buildPool(NO_MODEL, everyone, previous === null ? undefined : previous.#everyone, null);
    const oldPools = previous === null ? null : previous.#pools;
    const pools = new Map<string, Pool>();
    for (const [model, members] of membersByModel(entries)) {
      pools.set(model, buildPool(model, members, oldPools?.get(model), whole));
    }
    this.#everyone = whole;
    this.#pools = pools;
    this.#unlisted = buildPool('', open, previous === null ? undefined : previous.#unlisted, whole);
  }

  /** See `WorkerSnapshot.pool`. */
  pool(model: string): Pool | undefined {
    if (model === '') return this.#everyone;
    const pool = this.#pools.get(model);
    if (pool !== undefined) return pool;
    if (model === NO_MODEL) return this.#everyone;
    const { members, memberIds, available } = this.#unlisted;
    // Named per request, since any name may come in: it is not worth remembering.
    if (members.length === 0) return undefined;
    return { model: model.length > MAX_MODEL_LENGTH ? NO_MODEL : model, members, memberIds, available };
  }
}

/** Who serves the models that some worker lists: those that list it, and those that serve any, in registration order. */
function membersByModel(entries: readonly FleetEntry[]): ReadonlyMap<string, readonly Worker[]> {
  const byModel = new Map<string, Worker[]>();
  const servesAny: Worker[] = [];
  for (const { worker, modelsKnown } of entries) {
    for (const model of new Set(worker.models)) {
      const members = byModel.get(model);
      if (members === undefined) byModel.set(model, [...servesAny, worker]);
      else members.push(worker);
    }
    if (worker.models.length > 0 || !modelsKnown) continue;
    servesAny.push(worker);
    for (const members of byModel.values()) members.push(worker);
  }
  return byModel;
}

/** Keeps the old pool, or the old arrays, wherever nothing changed, so that caches keyed by them stay warm. */
function buildPool(model: string, members: readonly Worker[], old: Pool | undefined, whole: Pool | null): Pool {
  if (old !== undefined && sameItems(old.members, members)) return old;
  const ids = members.map((worker) => worker.id);
  // Pools with the same members share one list, and with it one hash ring.
  const shared = whole !== null && sameItems(whole.memberIds, ids) ? whole.memberIds : null;
  const memberIds = shared ?? (old !== undefined && sameItems(old.memberIds, ids) ? old.memberIds : ids);
  const placeable = members.filter((worker) => worker.placeable);
  const available = old !== undefined && sameItems(old.available, placeable) ? old.available : placeable;
  return { model, members, memberIds, available };
}

function sameItems<T>(a: readonly T[], b: readonly T[]): boolean {
  return a.length === b.length && a.every((item, index) => item === b[index]);
}
