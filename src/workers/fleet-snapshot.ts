import { NO_MODEL, type Pool, type WorkerSnapshot } from './snapshot.ts';
import type { Worker } from './worker.ts';
import { isGrpcUrl, rankId } from './worker-url.ts';

/** A worker as the builder of snapshots takes it. */
export interface FleetEntry {
  readonly worker: Worker;
  /** False until its model list was declared, answered or given up: till then an empty list does not mean "any". */
  readonly modelsKnown: boolean;
}

/** A longer name of a model that nobody lists counts as none: it would be kept in pins and metrics as it came. */
const MAX_MODEL_LENGTH = 256;
const NO_RANKS: ReadonlySet<number> = new Set();

export class FleetSnapshot implements WorkerSnapshot {
  readonly version: number;
  readonly workers: readonly Worker[];
  readonly models: readonly string[];
  readonly uniform: boolean;
  readonly ranked: boolean;
  readonly soleModel: string;
  readonly grpc: FleetSnapshot | null;
  readonly #byId: ReadonlyMap<string, Worker>;
  readonly #byAddress: ReadonlyMap<string, Worker>;
  readonly #commonRanks: ReadonlySet<number | null>;
  /** Of requests that name no model. */
  readonly #everyone: Pool;
  /** Pools of the models that some worker lists. */
  readonly #pools: ReadonlyMap<string, Pool>;
  /** For a model that nobody lists: who serves any model, or may turn out to serve it. */
  readonly #unlisted: Pool;

  private constructor(version: number, entries: readonly FleetEntry[], previous: FleetSnapshot | null, grpc = false) {
    this.version = version;
    this.workers = entries.map((entry) => entry.worker);
    this.#byId = new Map(this.workers.map((worker) => [worker.id, worker]));
    this.#byAddress = firstByAddress(this.workers);

    const apart = grpc ? [] : entries.filter((entry) => isGrpcUrl(entry.worker.url));
    this.grpc = apart.length === 0 ? null : new FleetSnapshot(version, apart, previous?.grpc ?? null, true);
    const regular = entries.filter(({ worker }) => worker.type === 'regular' && isGrpcUrl(worker.url) === grpc);
    const everyone = regular.map((entry) => entry.worker);
    const open = everyone.filter((worker) => worker.models.length === 0);

    const whole = buildPool(NO_MODEL, everyone, previous === null ? undefined : previous.#everyone, null);
    const oldPools = previous === null ? null : previous.#pools;
    const pools = new Map<string, Pool>();
    for (const [model, members] of membersByModel(regular)) {
      pools.set(model, buildPool(model, members, oldPools?.get(model), whole));
    }
    this.#everyone = whole;
    this.#pools = pools;
    this.#unlisted = buildPool('', open, previous === null ? undefined : previous.#unlisted, whole);
    this.models = listedByReady(everyone);
    const common = commonModels(regular);
    this.uniform = common !== null;
    this.ranked = this.workers.some((worker) => worker.rank !== null);
    this.#commonRanks = this.ranked ? commonRanks(this.workers) : NO_RANKS;
    this.soleModel = common?.length === 1 ? (common[0] ?? '') : '';
  }

  static readonly empty = new FleetSnapshot(0, [], null);

  /**
   * The next snapshot.
   *
   * @param entries every worker, in registration order
   */
  static after(previous: FleetSnapshot, entries: readonly FleetEntry[]): FleetSnapshot {
    return new FleetSnapshot(previous.version + 1, entries, previous);
  }

  byId(id: string): Worker | undefined {
    return this.#byId.get(id);
  }

  byAddress(address: string, rank: number | null = null): Worker | undefined {
    const first = this.#byAddress.get(address);
    if (rank === null || first === undefined) return first;
    return this.#byAddress.get(rankId(address, rank)) ?? first;
  }

  hasEverywhere(rank: number): boolean {
    return this.#commonRanks.has(rank);
  }

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
function membersByModel(regular: readonly FleetEntry[]): ReadonlyMap<string, readonly Worker[]> {
  const byModel = new Map<string, Worker[]>();
  const servesAny: Worker[] = [];
  for (const { worker, modelsKnown } of regular) {
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

/** By `ip:port`, and ranks by `ip:port@rank` too. */
function firstByAddress(workers: readonly Worker[]): ReadonlyMap<string, Worker> {
  const byAddress = new Map<string, Worker>();
  for (const worker of workers) {
    const { address, rank } = worker;
    if (address === '') continue;
    if (!byAddress.has(address)) byAddress.set(address, worker);
    if (rank !== null && !byAddress.has(rankId(address, rank))) byAddress.set(rankId(address, rank), worker);
  }
  return byAddress;
}

/** The ranks that each engine has. */
function commonRanks(workers: readonly Worker[]): ReadonlySet<number | null> {
  const byEngine = new Map<string, Set<number | null>>();
  for (const { url, rank } of workers) {
    const ranks = byEngine.get(url);
    if (ranks === undefined) byEngine.set(url, new Set([rank]));
    else ranks.add(rank);
  }
  const [first = NO_RANKS, ...others] = byEngine.values();
  return new Set([...first].filter((rank) => others.every((ranks) => ranks.has(rank))));
}

function listedByReady(workers: readonly Worker[]): readonly string[] {
  const models = new Set<string>();
  for (const worker of workers) {
    if (worker.status === 'ready') for (const model of worker.models) models.add(model);
  }
  return [...models];
}

/**
 * The models that each worker lists, null where the lists differ. Workers whose models are not known yet take no requests
 * for any model, so they do not count.
 */
function commonModels(regular: readonly FleetEntry[]): readonly string[] | null {
  const known = regular.filter((entry) => entry.modelsKnown).map((entry) => entry.worker.models);
  const [first = [], ...others] = known;
  const listed = new Set(first);
  const same = others.every(
    (models) => models === first || (models.length === first.length && models.every((model) => listed.has(model))),
  );
  return same ? first : null;
}
