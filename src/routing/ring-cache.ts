import { LruMap } from '../util/lru-map.ts';
import type { Pool } from '../workers/snapshot.ts';
import type { Worker } from '../workers/worker.ts';
import { HashRing, type Nodes, nodesOf, type Position, positionOf } from './hash-ring.ts';
import { workersById } from './workers-by-id.ts';

/** Workers whose nodes are remembered: 150 hashes each, needed anew with every change of a pool they are in. */
const REMEMBERED_WORKERS = 4096;

interface Eligible {
  readonly ring: HashRing;
  readonly byOwner: readonly (Worker | undefined)[];
}

/**
 * Rings of the pools in use. A ring has all members of its pool, whatever their health, so that a sick worker moves no key
 * but its own; it is kept as long as the membership is the same.
 */
export class RingCache {
  readonly #rings = new WeakMap<readonly string[], HashRing>();
  readonly #nodes = new LruMap<string, Nodes>(REMEMBERED_WORKERS);
  readonly #eligible = new WeakMap<readonly Worker[], Eligible>();
  /** The last key and where it stands: a decision asks for the same one several times. */
  #lastKey = '';
  #lastPosition: Position = positionOf('');

  /** Owner of a key among those of `candidates` that are not in `taken`, on the ring of `pool`; null when none is left. */
  ownerOf(key: string, pool: Pool, candidates: readonly Worker[], taken: readonly Worker[]): Worker | null {
    const ring = this.ringOf(pool);
    return ring.find(this.#positionOf(key), this.eligibleOn(ring, candidates), taken);
  }

  ringOf(pool: Pool): HashRing {
    const known = this.#rings.get(pool.memberIds);
    if (known !== undefined) return known;
    const ring = new HashRing(pool.memberIds, (id) => this.#nodesOf(id));
    this.#rings.set(pool.memberIds, ring);
    return ring;
  }

  /** The candidates by their index in `ring.ids`. */
  eligibleOn(ring: HashRing, candidates: readonly Worker[]): readonly (Worker | undefined)[] {
    const known = this.#eligible.get(candidates);
    if (known !== undefined && known.ring === ring) return known.byOwner;
    const byId = workersById(candidates);
    const byOwner = ring.ids.map((id) => byId.get(id));
    this.#eligible.set(candidates, { ring, byOwner });
    return byOwner;
  }

  #positionOf(key: string): Position {
    if (key !== this.#lastKey) {
      this.#lastPosition = positionOf(key);
      this.#lastKey = key;
    }
    return this.#lastPosition;
  }

  #nodesOf(id: string): Nodes {
    const known = this.#nodes.get(id);
    if (known !== undefined) return known;
    const nodes = nodesOf(id);
    this.#nodes.set(id, nodes);
    return nodes;
  }
}
