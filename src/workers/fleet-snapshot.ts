import { type FleetEntry, ModelPools } from './model-pools.ts';
import type { Pool, WorkerSnapshot } from './snapshot.ts';
import type { Worker } from './worker.ts';
import type { WorkerType } from './worker-kinds.ts';
import { isGrpcUrl, rankId } from './worker-url.ts';

const NO_RANKS: ReadonlySet<number> = new Set();

export class FleetSnapshot implements WorkerSnapshot {
  readonly version: number;
  readonly disaggregated: boolean;
  readonly workers: readonly Worker[];
  readonly models: readonly string[];
  readonly uniform: boolean;
  readonly ranked: boolean;
  readonly soleModel: string;
  readonly grpc: FleetSnapshot | null;
  readonly #byId: ReadonlyMap<string, Worker>;
  readonly #byAddress: ReadonlyMap<string, Worker>;
  readonly #commonRanks: ReadonlySet<number | null>;
  readonly #pools: Readonly<Record<WorkerType, ModelPools>>;

  private constructor(
    version: number,
    disaggregated: boolean,
    entries: readonly FleetEntry[],
    previous: FleetSnapshot | null,
    grpc = false,
  ) {
    this.version = version;
    this.disaggregated = disaggregated;
    this.workers = entries.map((entry) => entry.worker);
    this.#byId = new Map(this.workers.map((worker) => [worker.id, worker]));
    this.#byAddress = firstByAddress(this.workers);

    const apart = grpc ? [] : entries.filter((entry) => isGrpcUrl(entry.worker.url));
    this.grpc = apart.length === 0 ? null : new FleetSnapshot(version, false, apart, previous?.grpc ?? null, true);
    const own = entries.filter((entry) => isGrpcUrl(entry.worker.url) === grpc);
    const poolsOf = (type: WorkerType) =>
      new ModelPools(
        own.filter((entry) => entry.worker.type === type),
        previous === null ? null : previous.#pools[type],
      );
    this.#pools = { regular: poolsOf('regular'), prefill: poolsOf('prefill'), decode: poolsOf('decode') };

    const serving = own.filter((entry) => this.serves(entry.worker));
    this.models = listedByReady(serving);
    const common = commonModels(serving);
    this.uniform = common !== null;
    this.ranked = this.workers.some((worker) => worker.rank !== null);
    this.#commonRanks = this.ranked ? commonRanks(this.workers) : NO_RANKS;
    this.soleModel = common?.length === 1 ? (common[0] ?? '') : '';
  }

  static readonly empty = FleetSnapshot.start(false);

  /** A fleet without workers. */
  static start(disaggregated: boolean): FleetSnapshot {
    return new FleetSnapshot(0, disaggregated, [], null);
  }

  /**
   * The next snapshot.
   *
   * @param entries every worker, in registration order
   */
  static after(previous: FleetSnapshot, entries: readonly FleetEntry[]): FleetSnapshot {
    return new FleetSnapshot(previous.version + 1, previous.disaggregated, entries, previous);
  }

  serves({ type, url }: Worker): boolean {
    return isGrpcUrl(url) || this.disaggregated === (type !== 'regular');
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

  pool(model: string, type: WorkerType = 'regular'): Pool | undefined {
    return this.#pools[type].pool(model);
  }
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

function listedByReady(entries: readonly FleetEntry[]): readonly string[] {
  const models = new Set<string>();
  for (const { worker } of entries) {
    if (worker.status === 'ready') for (const model of worker.models) models.add(model);
  }
  return [...models];
}

/**
 * The models that each worker lists, null where the lists differ. Workers whose models are not known yet take no requests
 * for any model, so they do not count.
 */
function commonModels(entries: readonly FleetEntry[]): readonly string[] | null {
  const known = entries.filter((entry) => entry.modelsKnown).map((entry) => entry.worker.models);
  const [first = [], ...others] = known;
  const listed = new Set(first);
  const same = others.every(
    (models) => models === first || (models.length === first.length && models.every((model) => listed.has(model))),
  );
  return same ? first : null;
}
