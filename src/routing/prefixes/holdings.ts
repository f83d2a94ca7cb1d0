import { FloatColumn, NONE, Records } from './columns.ts';
import { EpochHeap } from './epoch-heap.ts';
import { FIRST, HOLDERS, LAST, type Nodes, ROOT } from './nodes.ts';

/** Fields of a holding: that a worker holds a node. First: children of the node that the worker holds too. */
const CHILDREN = 0;
const NODE = 1;
const WORKER = 2;
/** Neighbours among the holdings of the node. */
const NEXT = 3;
const PREVIOUS = 4;
/** Neighbours among the holdings of the worker, those of a node before those of its children. */
const LATER = 5;
const EARLIER = 6;
/** Place among the holdings that may be evicted. */
const PLACE = 7;

/** Nodes with more holders have a map from worker to holding beside the list. */
const CROWD = 16;

/** A worker that is, or was, registered. */
export interface Holder {
  readonly id: string;
  readonly number: number;
  /** Units held. */
  size: number;
  forgotten: boolean;
  /** Its holding of the root, which is the first. */
  root: number;
  /** Its last holding, which is on no child of its node. */
  last: number;
}

/**
 * Who holds which node, since when, and how much that is.
 *
 * A worker that holds a node holds all nodes above it. A holding may be evicted once its worker holds no child of the
 * node; these stand in a heap by epoch. The holdings of a forgotten worker are ignored by all that answers questions, and
 * taken off from the last one backwards, so that children always go before their parents. Hot path.
 */
export class Holdings {
  readonly #nodes: Nodes;
  readonly #records = new Records();
  readonly #epochs = new FloatColumn();
  readonly #evictable = new EpochHeap(this.#records, PLACE, this.#epochs);
  readonly #crowds = new Map<number, Map<number, number>>();
  readonly #workers: (Holder | null)[] = [];
  readonly #freeNumbers: number[] = [];
  readonly #byId = new Map<string, Holder>();
  readonly #forgotten: Holder[] = [];
  #forgottenSize = 0;

  /** Units held, summed over workers. */
  size = 0;
  /** Workers that hold at least one unit. */
  holderCount = 0;

  constructor(nodes: Nodes) {
    this.#nodes = nodes;
  }

  /** Units of forgotten workers that were not taken off yet. */
  get forgottenSize(): number {
    return this.#forgottenSize;
  }

  /** Some holdings of forgotten workers were not taken off yet. */
  get hasForgotten(): boolean {
    return this.#forgotten.length > 0;
  }

  worker(id: string): Holder | undefined {
    return this.#byId.get(id);
  }

  /** Registers a worker that is not. */
  register(id: string): Holder {
    const number = this.#freeNumbers.pop() ?? this.#workers.length;
    const worker: Holder = { id, number, size: 0, forgotten: false, root: NONE, last: NONE };
    this.#workers[number] = worker;
    this.#byId.set(id, worker);
    worker.root = this.#create(ROOT, worker, 0);
    return worker;
  }

  /** A worker's holdings count no more from now on. */
  forget(worker: Holder): void {
    worker.forgotten = true;
    this.#byId.delete(worker.id);
    this.#forgotten.push(worker);
    this.#forgottenSize += worker.size;
    this.size -= worker.size;
    if (worker.size > 0) this.holderCount -= 1;
  }

  /** The worker's holding of a node, `NONE` without one. */
  find(node: number, worker: Holder): number {
    if (node === ROOT) return worker.root;
    const crowd = this.#crowds.size === 0 ? undefined : this.#crowds.get(node);
    if (crowd !== undefined) return crowd.get(worker.number) ?? NONE;
    let holding = this.#firstOf(node);
    while (holding !== NONE && this.#records.get(holding, WORKER) !== worker.number) {
      holding = this.#records.get(holding, NEXT);
    }
    return holding;
  }

  /** The first holding of a node that counts, `NONE` without any: of the worker that has held it longest. */
  firstLive(node: number): number {
    let holding = this.#firstOf(node);
    if (this.#forgotten.length === 0) return holding;
    while (holding !== NONE && this.#workerOf(holding).forgotten) holding = this.#records.get(holding, NEXT);
    return holding;
  }

  /** Ids of the workers that hold a node, in the order in which they came to hold it. */
  holdersOf(node: number): string[] {
    const ids: string[] = [];
    for (let holding = this.#firstOf(node); holding !== NONE; holding = this.#records.get(holding, NEXT)) {
      const worker = this.#workerOf(holding);
      if (!worker.forgotten) ids.push(worker.id);
    }
    return ids;
  }

  /** The worker, who holds the parent by `parentHolding`, holds a node from now on. To be settled when it stays a leaf. */
  attach(node: number, worker: Holder, parentHolding: number, epoch: number): number {
    const holding = this.#create(node, worker, epoch);
    this.#join(node, holding, worker.number);
    const siblings = this.#records.get(parentHolding, CHILDREN);
    this.#records.set(parentHolding, CHILDREN, siblings + 1);
    if (siblings === 0 && this.#evictable.has(parentHolding)) this.#evictable.remove(parentHolding);
    this.#grow(worker, this.#nodes.units(node));
    return holding;
  }

  /** A node became shorter that the worker alone holds. */
  shortened(worker: Holder, units: number): void {
    worker.size -= units;
    this.size -= units;
  }

  /** Makes a holding evictable if its worker holds no child of its node. */
  settle(holding: number): void {
    if (this.#records.get(holding, NODE) === ROOT) return;
    if (this.#records.get(holding, CHILDREN) === 0 && !this.#evictable.has(holding)) this.#evictable.push(holding);
  }

  /** A holding was used: its epoch grows. */
  use(holding: number, epoch: number): void {
    this.#epochs.set(holding, epoch);
    if (this.#evictable.has(holding)) this.#evictable.grown(holding);
  }

  /** All workers that hold a node hold a new one between it and its parent too, with the same epochs; no size changes. */
  cloneTo(upper: number, lower: number): void {
    for (let below = this.#firstOf(lower); below !== NONE; below = this.#records.get(below, NEXT)) {
      const worker = this.#workerOf(below);
      const holding = this.#fresh(upper, worker.number, this.#epochs.get(below));
      this.#records.set(holding, CHILDREN, 1);
      const earlier = this.#records.get(below, EARLIER);
      this.#order(earlier, holding);
      this.#order(holding, below);
      this.#join(upper, holding, worker.number);
    }
  }

  /** The next holding to go when room is needed: what forgotten workers left, then the least recent. `NONE` when all is gone. */
  nextToGo(): number {
    const worker = this.#forgotten.at(-1);
    return worker === undefined ? this.#evictable.top : worker.last;
  }

  /** Takes off a holding whose worker holds no child of its node; answers with the node. */
  takeOff(holding: number): number {
    const node = this.#records.get(holding, NODE);
    const worker = this.#workerOf(holding);
    if (this.#evictable.has(holding)) this.#evictable.remove(holding);
    this.#unorder(holding, worker);
    if (node === ROOT) {
      this.#retire(worker);
    } else {
      this.#leave(node, holding, worker.number);
      const units = this.#nodes.units(node);
      worker.size -= units;
      if (worker.forgotten) this.#forgottenSize -= units;
      else this.#shrunk(node, worker, units);
    }
    this.#records.drop(holding);
    return node;
  }

  /** What is held, for checks. */
  *all(): Iterable<{ node: number; worker: string; epoch: number }> {
    for (const worker of this.#byId.values()) {
      for (let holding = worker.root; holding !== NONE; holding = this.#records.get(holding, LATER)) {
        yield { node: this.#records.get(holding, NODE), worker: worker.id, epoch: this.#epochs.get(holding) };
      }
    }
  }

  #firstOf(node: number): number {
    return this.#nodes.records.get(node, FIRST);
  }

  #workerOf(holding: number): Holder {
    // A worker's number is given again only after its last holding is gone.
    return this.#workers[this.#records.get(holding, WORKER)] as Holder;
  }

  #grow(worker: Holder, units: number): void {
    if (worker.size === 0) this.holderCount += 1;
    worker.size += units;
    this.size += units;
  }

  #shrunk(node: number, worker: Holder, units: number): void {
    this.size -= units;
    if (worker.size === 0) this.holderCount -= 1;
    const parent = this.#nodes.parent(node);
    const above = this.find(parent, worker);
    const children = this.#records.get(above, CHILDREN) - 1;
    this.#records.set(above, CHILDREN, children);
    if (children === 0 && parent !== ROOT) this.#evictable.push(above);
  }

  #retire(worker: Holder): void {
    this.#forgotten.splice(this.#forgotten.indexOf(worker), 1);
    this.#workers[worker.number] = null;
    this.#freeNumbers.push(worker.number);
  }

  #fresh(node: number, number: number, epoch: number): number {
    const holding = this.#records.take();
    this.#epochs.reach(holding);
    this.#records.set(holding, NODE, node);
    this.#records.set(holding, WORKER, number);
    this.#records.set(holding, PLACE, NONE);
    this.#epochs.set(holding, epoch);
    this.#records.set(holding, CHILDREN, 0);
    return holding;
  }

  /** A holding at the end of its worker's. */
  #create(node: number, worker: Holder, epoch: number): number {
    const holding = this.#fresh(node, worker.number, epoch);
    this.#order(worker.last, holding);
    this.#records.set(holding, LATER, NONE);
    worker.last = holding;
    return holding;
  }

  #order(earlier: number, later: number): void {
    if (earlier !== NONE) this.#records.set(earlier, LATER, later);
    if (later !== NONE) this.#records.set(later, EARLIER, earlier);
  }

  #unorder(holding: number, worker: Holder): void {
    const earlier = this.#records.get(holding, EARLIER);
    const later = this.#records.get(holding, LATER);
    this.#order(earlier, later);
    if (worker.last === holding) worker.last = earlier;
  }

  /** A holding at the end of its node's. */
  #join(node: number, holding: number, number: number): void {
    const { records } = this.#nodes;
    const last = records.get(node, LAST);
    this.#records.set(holding, PREVIOUS, last);
    this.#records.set(holding, NEXT, NONE);
    if (last === NONE) records.set(node, FIRST, holding);
    else this.#records.set(last, NEXT, holding);
    records.set(node, LAST, holding);
    const holders = records.get(node, HOLDERS) + 1;
    records.set(node, HOLDERS, holders);
    if (holders > CROWD) this.#crowd(node).set(number, holding);
  }

  #crowd(node: number): Map<number, number> {
    const known = this.#crowds.get(node);
    if (known !== undefined) return known;
    const crowd = new Map<number, number>();
    for (let holding = this.#firstOf(node); holding !== NONE; holding = this.#records.get(holding, NEXT)) {
      crowd.set(this.#records.get(holding, WORKER), holding);
    }
    this.#crowds.set(node, crowd);
    return crowd;
  }

  #leave(node: number, holding: number, number: number): void {
    const previous = this.#records.get(holding, PREVIOUS);
    const next = this.#records.get(holding, NEXT);
    const { records } = this.#nodes;
    if (previous === NONE) records.set(node, FIRST, next);
    else this.#records.set(previous, NEXT, next);
    if (next === NONE) records.set(node, LAST, previous);
    else this.#records.set(next, PREVIOUS, previous);
    const holders = records.get(node, HOLDERS) - 1;
    records.set(node, HOLDERS, holders);
    if (holders === CROWD) this.#crowds.delete(node);
    else if (holders > CROWD) this.#crowds.get(node)?.delete(number);
  }
}
