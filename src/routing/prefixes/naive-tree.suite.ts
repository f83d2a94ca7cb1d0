/** The trees as policies 1.6.5 and 1.6.6 tell them, in the plainest way: what the real ones are held against. */
import type { Recency } from './radix-tree.ts';

interface Node {
  run: string[];
  /** Epoch by worker, in the order of attachment. */
  readonly holders: Map<string, number>;
  parent: Node | null;
  children: Node[];
}

/** A holding by what can be seen of it. */
export interface NaiveHolding {
  path: string;
  run: string;
  worker: string;
  epoch: number;
}

export class NaiveTree {
  readonly #root: Node = { run: [], holders: new Map(), parent: null, children: [] };
  readonly #recency: Recency;
  readonly #page: number;
  readonly #maxSize: number;
  #epoch = 0;

  constructor(recency: Recency, page: number, maxSize: number) {
    this.#recency = recency;
    this.#page = page;
    this.#maxSize = maxSize;
  }

  add(worker: string): void {
    if (!this.#root.holders.has(worker)) this.#root.holders.set(worker, 0);
  }

  match(whole: readonly string[]): { matched: number; holders: string[] } {
    const key = this.#pagesOf(whole, whole.length);
    let node = this.#root;
    let at = 0;
    for (;;) {
      const child = this.#childOf(node, key.slice(at));
      if (child === undefined) break;
      const common = this.#common(child.run, key.slice(at));
      node = child;
      at += common;
      if (this.#recency === 'path') this.#use(child);
      if (common < child.run.length) break;
    }
    if (this.#recency === 'last') {
      const epoch = this.#epoch++;
      const [first] = node.holders.keys();
      if (epoch % 8 === 0 && first !== undefined) node.holders.set(first, epoch);
    }
    return { matched: at, holders: at === 0 ? [] : [...node.holders.keys()] };
  }

  /** `gone` decides among the least recent holdings of one epoch. */
  insert(whole: readonly string[], worker: string, gone: (holding: NaiveHolding) => boolean): void {
    const key = this.#pagesOf(whole, Math.min(whole.length, this.#maxSize));
    this.add(worker);
    let node = this.#root;
    let at = 0;
    let leaf = false;
    while (at < key.length) {
      let child = this.#childOf(node, key.slice(at));
      if (child === undefined) {
        child = { run: key.slice(at), holders: new Map([[worker, this.#epoch++]]), parent: node, children: [] };
        node.children.push(child);
        leaf = true;
        break;
      }
      const common = this.#common(child.run, key.slice(at));
      if (common < child.run.length) child = this.#split(node, child, common);
      if (!child.holders.has(worker)) child.holders.set(worker, 0);
      if (this.#recency === 'path') child.holders.set(worker, this.#epoch++);
      node = child;
      at += common;
    }
    if (this.#recency === 'last' && !leaf) node.holders.set(worker, this.#epoch++);
    this.evict(this.#maxSize, gone);
  }

  evict(most: number, gone: (holding: NaiveHolding) => boolean): void {
    while (this.size > most) {
      const leaves = this.#all().filter(({ node, worker }) =>
        node.children.every(({ holders }) => !holders.has(worker)),
      );
      const least = Math.min(...leaves.map(({ epoch }) => epoch));
      const next = leaves.filter(({ epoch }) => epoch === least).find(gone);
      if (next === undefined) throw new Error(`the tree kept all that was used least recently (epoch ${least})`);
      next.node.holders.delete(next.worker);
      this.#prune(next.node);
    }
  }

  forget(worker: string): void {
    for (const { node } of this.#all().filter((holding) => holding.worker === worker)) node.holders.delete(worker);
    this.#root.holders.delete(worker);
    for (const node of this.#nodes()) this.#prune(node);
  }

  get size(): number {
    return this.#all().reduce((sum, { node }) => sum + node.run.length, 0);
  }

  sizeOf(worker: string): number {
    return this.#all().reduce((sum, holding) => sum + (holding.worker === worker ? holding.node.run.length : 0), 0);
  }

  get nodeCount(): number {
    return this.#nodes().length;
  }

  held(): NaiveHolding[] {
    return this.#all().map(({ path, run, worker, epoch }) => ({ path, run, worker, epoch }));
  }

  #pagesOf(key: readonly string[], most: number): string[] {
    return key.slice(0, most - (most % this.#page));
  }

  #nodes(from = this.#root): Node[] {
    return from.children.flatMap((child) => [child, ...this.#nodes(child)]);
  }

  #all(): (NaiveHolding & { node: Node })[] {
    return this.#nodes().flatMap((node) => {
      let path = '';
      for (let at: Node | null = node; at !== null; at = at.parent) path = at.run.join('') + path;
      return [...node.holders].map(([worker, epoch]) => ({ path, run: node.run.join(''), worker, epoch, node }));
    });
  }

  #childOf(node: Node, key: readonly string[]): Node | undefined {
    return node.children.find(({ run }) => this.#common(run, key) > 0);
  }

  /** Units in common, in whole pages. */
  #common(run: readonly string[], key: readonly string[]): number {
    let length = 0;
    while (length < run.length && length < key.length && run[length] === key[length]) length += 1;
    return length - (length % this.#page);
  }

  #use(node: Node): void {
    const [first] = node.holders.keys();
    if (first !== undefined) node.holders.set(first, this.#epoch++);
  }

  #split(parent: Node, lower: Node, length: number): Node {
    const upper = { run: lower.run.slice(0, length), holders: new Map(lower.holders), parent, children: [lower] };
    parent.children = parent.children.map((child) => (child === lower ? upper : child));
    lower.run = lower.run.slice(length);
    lower.parent = upper;
    return upper;
  }

  #prune(node: Node): void {
    const { parent } = node;
    if (parent === null || node.holders.size > 0 || node.children.length > 0) return;
    parent.children = parent.children.filter((child) => child !== node);
    this.#prune(parent);
  }
}
