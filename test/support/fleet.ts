import type { EngineLoad } from '../../src/workers/engine-load.ts';
import type { Pool, WorkerSnapshot } from '../../src/workers/snapshot.ts';
import type { Worker, WorkerLoad } from '../../src/workers/worker.ts';

/** Load that a test sets by hand. */
export class TestLoad implements WorkerLoad {
  requests = 0;
  readonly #keys = new Map<string, number>();

  get distinctKeys(): number {
    return this.#keys.size;
  }

  get ownRequests(): number {
    return this.requests;
  }

  get ownDistinctKeys(): number {
    return this.distinctKeys;
  }

  ofKey(loadKey: string): number {
    return this.#keys.get(loadKey) ?? 0;
  }

  /** Puts `count` requests in flight, of one load key or of none. */
  begin(loadKey: string | null = null, count = 1): void {
    this.requests += count;
    if (loadKey !== null) this.#keys.set(loadKey, this.ofKey(loadKey) + count);
  }

  end(loadKey: string | null = null, count = 1): void {
    this.requests -= count;
    if (loadKey === null) return;
    const left = this.ofKey(loadKey) - count;
    if (left > 0) this.#keys.set(loadKey, left);
    else this.#keys.delete(loadKey);
  }
}

/** An engine that never reported. */
export const SILENT_ENGINE: EngineLoad = { current: null, recent: null, reports: 0 };

let lastOctet = 0;

/** A ready worker; what matters to the test is overridden. */
export function makeWorker(id: string, overrides: Partial<Worker> = {}): Worker {
  lastOctet = (lastOctet % 250) + 1;
  return {
    id,
    url: id,
    rank: null,
    dpSize: null,
    name: id,
    type: 'regular',
    legFacts: null,
    source: 'flags',
    models: [],
    status: 'ready',
    breaker: 'closed',
    overloaded: false,
    address: `10.0.0.${lastOctet}:8000`,
    placeable: true,
    keepsPins: true,
    load: new TestLoad(),
    engine: SILENT_ENGINE,
    priority: 50,
    cost: 1,
    labels: {},
    ...overrides,
  };
}

/** Pool of the given members. `memberIds` is new with each call: pass one to keep the identity. */
export function makePool(
  members: readonly Worker[],
  model = 'unknown',
  memberIds: readonly string[] = members.map((worker) => worker.id),
): Pool {
  return { model, members, memberIds, available: members.filter((worker) => worker.placeable) };
}

/** Snapshot of the given workers. Pools keep their identity within it. */
export function makeSnapshot(workers: readonly Worker[], version = 1, disaggregated = false): WorkerSnapshot {
  const pools = new Map<string, Pool>();
  const serves = (worker: Worker, model: string) =>
    model === '' || worker.models.length === 0 || worker.models.includes(model);
  const lists = new Set(workers.map((worker) => JSON.stringify([...worker.models].sort())));

  return {
    version,
    disaggregated,
    workers,
    serves: ({ type }) => disaggregated === (type !== 'regular'),
    byId: (id) => workers.find((worker) => worker.id === id),
    byAddress: (address, rank = null) => {
      const there = workers.filter((worker) => worker.address === address);
      return there.find((worker) => rank !== null && worker.rank === rank) ?? there[0];
    },
    pool(model, type = 'regular') {
      const known = pools.get(`${type} ${model}`);
      if (known !== undefined) return known;
      const members = workers.filter((worker) => worker.type === type && serves(worker, model));
      if (members.length === 0 && model !== '') return undefined;
      const pool = makePool(members, model === '' ? 'unknown' : model);
      pools.set(`${type} ${model}`, pool);
      return pool;
    },
    models: [...new Set(workers.filter((worker) => worker.status === 'ready').flatMap((worker) => worker.models))],
    uniform: lists.size <= 1,
    grpc: null,
    ranked: workers.some((worker) => worker.rank !== null),
    hasEverywhere: (rank) =>
      workers.every(({ url }) => workers.some((worker) => worker.url === url && worker.rank === rank)),
    soleModel: lists.size === 1 && workers[0]?.models.length === 1 ? workers[0].models[0]! : '',
  };
}

type State = 'up' | 'down' | 'draining';

const STATES = {
  up: { status: 'ready', placeable: true, keepsPins: true },
  down: { status: 'not_ready', placeable: false, keepsPins: false },
  draining: { status: 'draining', placeable: false, keepsPins: true },
} as const satisfies Record<State, Partial<Worker>>;

/** A fleet whose workers go up and down. Each change makes a new snapshot, as the registry does. */
export class TestFleet {
  snapshot: WorkerSnapshot;

  constructor(workers: readonly (string | Worker)[], disaggregated = false) {
    const all = workers.map((each) => (typeof each === 'string' ? makeWorker(each) : each));
    this.snapshot = makeSnapshot(all, 1, disaggregated);
  }

  worker(id: string): Worker {
    return this.snapshot.byId(id)!;
  }

  load(id: string): TestLoad {
    return this.worker(id).load as TestLoad;
  }

  set(state: State, ...ids: readonly string[]): void {
    this.#replace(
      this.snapshot.workers.map((worker) => (ids.includes(worker.id) ? { ...worker, ...STATES[state] } : worker)),
    );
  }

  add(worker: Worker): void {
    this.#replace([...this.snapshot.workers, worker]);
  }

  remove(id: string): void {
    this.#replace(this.snapshot.workers.filter((worker) => worker.id !== id));
  }

  #replace(workers: readonly Worker[]): void {
    const { version, disaggregated } = this.snapshot;
    this.snapshot = makeSnapshot(workers, version + 1, disaggregated);
  }
}

/** Randomness that answers with the given numbers in turn, over and over. */
export function scriptedRandom(...values: readonly number[]): () => number {
  let at = 0;
  return () => values[at++ % values.length]!;
}
