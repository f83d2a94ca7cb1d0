import { createBLAKE3 } from 'hash-wasm';

/** Nodes of each id on the ring (sticky-sessions 3.14). */
export const VIRTUAL_NODES = 150;

/** A point on the ring: an unsigned 64-bit number as two halves, since a BigInt costs more than the whole look-up. */
export interface Position {
  readonly high: number;
  readonly low: number;
}

/** Made once while modules load; it keeps its state between calls, and no call of it spans a turn. */
const blake3 = await createBLAKE3();

/** Position of a text: the first 8 bytes of its BLAKE3 hash, read as a little-endian number (sticky-sessions 3.14). */
export function positionOf(text: string): Position {
  const hash = blake3.init().update(text).digest('binary');
  return { high: uint32At(hash, 4), low: uint32At(hash, 0) };
}

function uint32At(bytes: Uint8Array, at: number): number {
  const [a = 0, b = 0, c = 0, d = 0] = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
  return (a | (b << 8) | (c << 16) | (d << 24)) >>> 0;
}

/** The nodes of one id, in the order of their numbers. */
export interface Nodes {
  readonly high: Uint32Array;
  readonly low: Uint32Array;
}

export function nodesOf(id: string): Nodes {
  const high = new Uint32Array(VIRTUAL_NODES);
  const low = new Uint32Array(VIRTUAL_NODES);
  for (let i = 0; i < VIRTUAL_NODES; i++) {
    const position = positionOf(`${id}#${i}`);
    high[i] = position.high;
    low[i] = position.low;
  }
  return { high, low };
}

/**
 * Numbers of nodes by position, equal ones in their own order. They are sorted natively, as numbers of 64 bits with the high
 * half of the position above the number of the node: with a comparison of ours, a thousand workers would take 0.4 s.
 */
function inOrder(high: Uint32Array, low: Uint32Array): Uint32Array {
  const numbers = new BigUint64Array(high.length);
  const halves = new Uint32Array(numbers.buffer); // little-endian, as every platform that Node runs this on
  for (let node = 0; node < high.length; node++) {
    halves[2 * node] = node;
    halves[2 * node + 1] = high[node] ?? 0;
  }
  numbers.sort();
  const order = high.map((_, place) => halves[2 * place] ?? 0);
  const isBefore = (a: number, b: number) => high[a] === high[b] && (low[a] ?? 0) < (low[b] ?? 0);
  for (let i = 1; i < order.length; i++) {
    const node = order[i] ?? 0;
    let place = i;
    for (; place > 0 && isBefore(node, order[place - 1] ?? 0); place--) order[place] = order[place - 1] ?? 0;
    order[place] = node;
  }
  return order;
}

/**
 * Consistent-hashing ring, position by position as SMG builds it (sticky-sessions 3.14, policies 1.8). Immutable. Look-up is
 * hot path.
 *
 * A ring exists for every pool, so SMG's rule for a pool without one (position modulo the number of workers) has no use here.
 */
export class HashRing {
  /** Distinct ids, in the order given. */
  readonly ids: readonly string[];
  readonly #high: Uint32Array;
  readonly #low: Uint32Array;
  /** Index into `ids` of the node at the same place. */
  readonly #owner: Uint32Array;

  /**
   * @param ids one id may stand more than once; it counts once
   * @param nodes where the nodes of an id come from
   */
  constructor(ids: readonly string[], nodes: (id: string) => Nodes = nodesOf) {
    this.ids = [...new Set(ids)];
    const size = this.ids.length * VIRTUAL_NODES;
    const high = new Uint32Array(size);
    const low = new Uint32Array(size);
    for (const [owner, id] of this.ids.entries()) {
      const own = nodes(id);
      high.set(own.high, owner * VIRTUAL_NODES);
      low.set(own.low, owner * VIRTUAL_NODES);
    }
    const order = inOrder(high, low);
    this.#high = order.map((node) => high[node] ?? 0);
    this.#low = order.map((node) => low[node] ?? 0);
    this.#owner = order.map((node) => Math.floor(node / VIRTUAL_NODES));
  }

  /** Nodes on the ring. */
  get size(): number {
    return this.#owner.length;
  }

  /** Position of the node at `place` in ascending order, and the id that owns it. */
  nodeAt(place: number): { readonly position: Position; readonly id: string } {
    return {
      position: { high: this.#high[place] ?? 0, low: this.#low[place] ?? 0 },
      id: this.ids[this.#owner[place] ?? 0] ?? '',
    };
  }

  /**
   * The first eligible owner from `key` on, clockwise and around the end; null when there is none.
   *
   * @param eligible by index into `ids`: what stands for an eligible id, undefined for one that is not
   * @param taken entries of `eligible` to pass over
   */
  find<T>(key: Position, eligible: readonly (T | undefined)[], taken: readonly T[]): T | null {
    const size = this.#owner.length;
    let place = this.#placeOf(key);
    for (let tested = 0; tested < size; tested++) {
      if (place === size) place = 0;
      const found = eligible[this.#owner[place] ?? 0];
      if (found !== undefined && !taken.includes(found)) return found;
      place++;
    }
    return null;
  }

  /** Place of the first node at or after a position; `size` when all stand before it. */
  #placeOf(key: Position): number {
    let from = 0;
    let to = this.#owner.length;
    while (from < to) {
      const middle = (from + to) >>> 1;
      const high = this.#high[middle] ?? 0;
      const before = high < key.high || (high === key.high && (this.#low[middle] ?? 0) < key.low);
      if (before) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}
