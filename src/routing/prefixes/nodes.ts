import { randomBytes } from 'node:crypto';
import { IntColumn, NONE, Records, TextColumn } from './columns.ts';

/** Fields of a node. */
export const PARENT = 1;
const KEY = 2;
/** The next node in the same bucket of the index of children. */
const CHAIN = 3;
/** The first and the last of its holdings, `NONE` without any, and their number. */
export const FIRST = 4;
export const LAST = 5;
export const HOLDERS = 6;
const UNITS = 7;

/** The root is always there, and its run is empty. */
export const ROOT = 0;

/** So that nobody outside can choose keys that share a bucket. Only the layout depends on it. */
const SEED = randomBytes(4).readInt32LE();

/**
 * The nodes of a tree: each has a run of text, and is found by its parent and the key of its first unit. All children of
 * all nodes are in one hash table, which grows by one bucket with each node (linear hashing): no rehash ever stops the
 * process, and a node with a million children costs no more than one with two. Hot path.
 */
export class Nodes {
  readonly records = new Records();
  readonly #runs = new TextColumn();
  readonly #heads = new IntColumn();
  #buckets = 0;
  #mask = 0;
  #count = 0;

  constructor() {
    this.#grow();
    this.create('', 0);
  }

  /** A node that is nobody's child yet and that nobody holds. */
  create(run: string, units: number): number {
    const node = this.records.take();
    this.#runs.reach(node);
    this.#runs.set(node, run);
    this.records.set(node, PARENT, NONE);
    this.records.set(node, FIRST, NONE);
    this.records.set(node, LAST, NONE);
    this.records.set(node, HOLDERS, 0);
    this.records.set(node, UNITS, units);
    return node;
  }

  /** Frees a node without children. */
  drop(node: number): void {
    if (this.records.get(node, PARENT) !== NONE) this.unlink(node);
    this.#runs.set(node, '');
    this.records.drop(node);
  }

  run(node: number): string {
    return this.#runs.get(node);
  }

  setRun(node: number, run: string, units: number): void {
    this.#runs.set(node, run);
    this.records.set(node, UNITS, units);
  }

  parent(node: number): number {
    return this.records.get(node, PARENT);
  }

  units(node: number): number {
    return this.records.get(node, UNITS);
  }

  key(node: number): number {
    return this.records.get(node, KEY);
  }

  /** The first of the children with that key, `NONE` without any. */
  firstChild(parent: number, key: number): number {
    return this.#from(this.#heads.get(this.#bucketOf(parent, key)), parent, key);
  }

  /** The next one with the same parent and key: keys of different runs may collide. */
  nextChild(child: number): number {
    const { records } = this;
    return this.#from(records.get(child, CHAIN), records.get(child, PARENT), records.get(child, KEY));
  }

  /** Makes a node that is nobody's child a child. */
  link(node: number, parent: number, key: number): void {
    this.records.set(node, PARENT, parent);
    this.records.set(node, KEY, key);
    if (++this.#count > this.#buckets) this.#grow();
    const bucket = this.#bucketOf(parent, key);
    this.records.set(node, CHAIN, this.#heads.get(bucket));
    this.#heads.set(bucket, node);
  }

  /** Makes a child nobody's child. */
  unlink(node: number): void {
    const { records } = this;
    const bucket = this.#bucketOf(records.get(node, PARENT), records.get(node, KEY));
    const after = records.get(node, CHAIN);
    let before = this.#heads.get(bucket);
    if (before === node) {
      this.#heads.set(bucket, after);
    } else {
      while (records.get(before, CHAIN) !== node) before = records.get(before, CHAIN);
      records.set(before, CHAIN, after);
    }
    records.set(node, PARENT, NONE);
    this.#count -= 1;
  }

  #from(start: number, parent: number, key: number): number {
    const { records } = this;
    let node = start;
    while (node !== NONE && (records.get(node, KEY) !== key || records.get(node, PARENT) !== parent)) {
      node = records.get(node, CHAIN);
    }
    return node;
  }

  #bucketOf(parent: number, key: number): number {
    const hash = mix(parent, key);
    const bucket = hash & this.#mask;
    return bucket < this.#buckets ? bucket : bucket & (this.#mask >> 1);
  }

  /** One more bucket, with its share of the one that held its nodes so far. */
  #grow(): void {
    const { records } = this;
    const added = this.#buckets++;
    if (added > this.#mask) this.#mask = this.#mask * 2 + 1;
    this.#heads.reach(added);
    this.#heads.set(added, NONE);
    if (added === 0) return;
    const shared = added & (this.#mask >> 1);
    let node = this.#heads.get(shared);
    this.#heads.set(shared, NONE);
    while (node !== NONE) {
      const next = records.get(node, CHAIN);
      const bucket = mix(records.get(node, PARENT), records.get(node, KEY)) & this.#mask;
      records.set(node, CHAIN, this.#heads.get(bucket));
      this.#heads.set(bucket, node);
      node = next;
    }
  }
}

function mix(parent: number, key: number): number {
  let hash = Math.imul(parent ^ SEED, 0x9e3779b1) ^ key;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
