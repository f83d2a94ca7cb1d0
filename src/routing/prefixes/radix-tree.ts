import type { Alphabet } from './alphabet.ts';
import { NONE } from './columns.ts';
import { type Holder, Holdings } from './holdings.ts';
import { HOLDERS, Nodes, ROOT } from './nodes.ts';
import { commonLength, ownPart } from './runs.ts';

/** Holdings that one call of `evict` or `sweep` takes off. */
const PIECE = 256;
/** Holdings that one insert takes off before it rather keeps less of its own text: so long a pause is short enough. */
const MOST_FOR_ROOM = 1024;
/** Most children of a node that share a key without sharing a unit; text has none. Only someone who looks for them finds more. */
const MAX_RIVALS = 4;
/** Of so many matches one counts as a use (policies 1.6.5). */
const MATCHES_PER_USE = 8;

/** What counts as a use of the nodes on the way: of a text tree only the last node, of a token tree all of them. */
export type Recency = 'last' | 'path';

/** A holding, for checks. */
export interface HeldPath {
  readonly path: string;
  readonly run: string;
  readonly worker: string;
  readonly epoch: number;
}

/**
 * The tree under both kinds of keys (policies 1.6.5, 1.6.6): runs of text, branching by an alphabet's units, held by
 * workers.
 *
 *     root ── "hello " {w1, w2} ─┬─ "world" {w1}
 *                                └─ "there" {w2}
 *
 * A match leaves its result in `matched` and `end`, so that it makes no object. Hot path.
 */
export class RadixTree {
  readonly #alphabet: Alphabet;
  readonly #recency: Recency;
  readonly #maxSize: number;
  /** The order of uses: each takes the next number, beginning with 0 (policies 1.6.5). */
  #epoch = 0;
  readonly #nodes = new Nodes();
  readonly #holdings = new Holdings(this.#nodes);
  /** Code units that the child last found has in common with the key. */
  #common = 0;
  /** Children with the same key that the last search passed over. */
  #rivals = 0;
  /** The node that the last insert made for the rest of its text, `NONE` when it made none. */
  #made = NONE;

  /** Units that the last match found. */
  matched = 0;
  /** The node where it ended. */
  end = ROOT;

  constructor(alphabet: Alphabet, recency: Recency, maxSize: number) {
    this.#alphabet = alphabet;
    this.#recency = recency;
    this.#maxSize = maxSize;
  }

  get size(): number {
    return this.#holdings.size;
  }

  get holderCount(): number {
    return this.#holdings.holderCount;
  }

  sizeOf(workerId: string): number {
    return this.#holdings.worker(workerId)?.size ?? 0;
  }

  add(workerId: string): void {
    if (this.#holdings.worker(workerId) === undefined) this.#holdings.register(workerId);
  }

  /**
   * Looks a text up.
   *
   * @param plain the text has as many code units as units
   * @param uses whether it counts as a use; else nothing but `matched` and `end` changes
   */
  match(text: string, plain: boolean, uses = true): void {
    let node = ROOT;
    let at = 0;
    let matched = 0;
    const usesPath = uses && this.#recency === 'path';
    while (at < text.length) {
      const child = this.#childAt(node, text, at);
      const holding = child === NONE ? NONE : this.#holdings.firstLive(child);
      if (holding === NONE) break;
      node = child;
      if (usesPath) this.#holdings.use(holding, this.#epoch++);
      const from = at;
      at += this.#common;
      if (this.#common < this.#nodes.run(child).length) {
        matched += this.#alphabet.count(text, from, at, plain);
        break;
      }
      matched += this.#nodes.units(child);
    }
    this.matched = matched;
    this.end = node;
    if (uses && this.#recency === 'last') this.#countMatch(node);
  }

  /** Ids of the workers that hold the node where the last match ended. */
  holdersAtEnd(): string[] {
    return this.#holdings.holdersOf(this.end);
  }

  /**
   * The worker saw `text`, which must have at most as many units as the cap allows. Makes room of what was used least
   * recently; where that would be too many small nodes, of the end of this text.
   *
   * @param plain the text has as many code units as units
   */
  insert(text: string, plain: boolean, workerId: string): void {
    const holdings = this.#holdings;
    const worker = holdings.worker(workerId) ?? holdings.register(workerId);
    this.#made = NONE;
    const held = this.#descend(text, plain, worker);
    holdings.settle(held);
    for (let taken = 0; taken < MOST_FOR_ROOM && this.#excess > 0; taken++) this.#takeOff(holdings.nextToGo());
    if (this.#excess > 0 && this.#made !== NONE && this.#shorten(this.#made, worker)) return;
    // The last of the worker's holdings are those of this text, so that they go from its end.
    while (this.#excess > 0) this.#takeOff(worker.last);
  }

  /** Units beyond the cap. */
  get #excess(): number {
    return this.#holdings.size + this.#holdings.forgottenSize - this.#maxSize;
  }

  /** Cuts a node that only `worker` holds down to what the cap allows; false when that is nothing. */
  #shorten(node: number, worker: Holder): boolean {
    const nodes = this.#nodes;
    const run = nodes.run(node);
    const units = nodes.units(node);
    const plain = run.length === units;
    const length = this.#alphabet.lengthOf(run, units - this.#excess, plain);
    if (length <= 0) return false;
    const kept = this.#alphabet.count(run, 0, length, plain);
    nodes.setRun(node, ownPart(run, 0, length), kept);
    this.#holdings.shortened(worker, units - kept);
    return true;
  }

  forget(workerId: string): void {
    const worker = this.#holdings.worker(workerId);
    if (worker !== undefined) this.#holdings.forget(worker);
  }

  /** Takes a bounded piece off until at most `most` units are held and nothing of forgotten workers: true when more is left. */
  evict(most: number): boolean {
    const holdings = this.#holdings;
    for (let i = 0; i < PIECE; i++) {
      if (!holdings.hasForgotten && holdings.size <= most) return false;
      this.#takeOff(holdings.nextToGo());
    }
    return holdings.hasForgotten || holdings.size > most;
  }

  sweep(): boolean {
    return this.evict(Number.POSITIVE_INFINITY);
  }

  /** All that is held, the root aside, and how many nodes are in use for it: for checks, not for the hot path. */
  held(): HeldPath[] {
    const nodes = this.#nodes;
    const paths: HeldPath[] = [];
    for (const { node, worker, epoch } of this.#holdings.all()) {
      if (node === ROOT) continue;
      let path = '';
      for (let at = node; at !== ROOT; at = nodes.parent(at)) path = nodes.run(at) + path;
      paths.push({ path, run: nodes.run(node), worker, epoch });
    }
    return paths;
  }

  /** Nodes in use beside the root, for checks and measurements. */
  get nodeCount(): number {
    const { records } = this.#nodes;
    let count = 0;
    for (let node = ROOT + 1; node < records.length; node++) if (records.get(node, HOLDERS) > 0) count += 1;
    return count;
  }

  /** Makes the worker hold all of the text; answers with its last holding. */
  #descend(text: string, plain: boolean, worker: Holder): number {
    const holdings = this.#holdings;
    const usesPath = this.#recency === 'path';
    let node = ROOT;
    let holding = worker.root;
    let at = 0;
    while (at < text.length) {
      let child = this.#childAt(node, text, at);
      if (child !== NONE && holdings.firstLive(child) === NONE) {
        // Only forgotten workers held it: it is as if it were not there, and is freed with what they left.
        this.#nodes.unlink(child);
        child = NONE;
      }
      if (child === NONE) {
        if (this.#rivals >= MAX_RIVALS) break;
        child = this.#leaf(node, text, at, plain);
        return holdings.attach(child, worker, holding, this.#epoch++);
      }
      const common = this.#common;
      if (common < this.#nodes.run(child).length) child = this.#split(child, common);
      const known = holdings.find(child, worker);
      holding = known === NONE ? holdings.attach(child, worker, holding, 0) : known;
      if (usesPath) holdings.use(holding, this.#epoch++);
      node = child;
      at += common;
    }
    if (!usesPath) holdings.use(holding, this.#epoch++);
    return holding;
  }

  /** The child that begins like the text at `at`, `NONE` without one; leaves the length in common in `#common`. */
  #childAt(node: number, text: string, at: number): number {
    this.#rivals = 0;
    let child = this.#nodes.firstChild(node, this.#alphabet.keyAt(text, at));
    while (child !== NONE) {
      const common = this.#alphabet.whole(text, at, commonLength(text, at, this.#nodes.run(child)));
      if (common > 0) {
        this.#common = common;
        return child;
      }
      this.#rivals += 1;
      child = this.#nodes.nextChild(child);
    }
    return NONE;
  }

  #leaf(parent: number, text: string, at: number, plain: boolean): number {
    const units = this.#alphabet.count(text, at, text.length, plain);
    const node = this.#nodes.create(ownPart(text, at, text.length), units);
    this.#nodes.link(node, parent, this.#alphabet.keyAt(text, at));
    this.#made = node;
    return node;
  }

  /** Puts a new node with the beginning of a node's run above it; answers with the new one. */
  #split(lower: number, length: number): number {
    const nodes = this.#nodes;
    const run = nodes.run(lower);
    const units = nodes.units(lower);
    const parent = nodes.parent(lower);
    const upperUnits = this.#alphabet.count(run, 0, length, run.length === units);
    const upper = nodes.create(ownPart(run, 0, length), upperUnits);
    const key = nodes.key(lower);
    nodes.unlink(lower);
    nodes.setRun(lower, ownPart(run, length, run.length), units - upperUnits);
    nodes.link(upper, parent, key);
    nodes.link(lower, upper, this.#alphabet.keyAt(run, length));
    this.#holdings.cloneTo(upper, lower);
    return upper;
  }

  /** A match that ended at a node is a use by one of its holders now and then. */
  #countMatch(node: number): void {
    const epoch = this.#epoch++;
    if (epoch % MATCHES_PER_USE !== 0 || node === ROOT) return;
    this.#holdings.use(this.#holdings.firstLive(node), epoch);
  }

  #takeOff(holding: number): void {
    const node = this.#holdings.takeOff(holding);
    // Whoever holds a node holds its parent, so a node that nobody holds has no children.
    if (node !== ROOT && this.#nodes.records.get(node, HOLDERS) === 0) this.#nodes.drop(node);
  }
}
