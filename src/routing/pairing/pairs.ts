/** Who can work with whom in a fleet that is split into prefill and decode workers (policies 4.1). Hot path. */
import { type LegFacts, pairingText } from '../../workers/leg-facts.ts';
import type { Pool } from '../../workers/snapshot.ts';
import type { Worker } from '../../workers/worker.ts';
import { allOverloaded } from '../all-overloaded.ts';
import { goesInTurn, mismatchOf, type PairingMode } from './compatibility.ts';

/** The part of a pool that can be used. */
interface Part {
  readonly members: readonly Worker[];
  readonly available: readonly Worker[];
}

const NOBODY: Part = { members: [], available: [] };

/** Knows the pairs of two pools, and keeps them while nothing of the pools changes. */
export class Pairing {
  readonly #mode: PairingMode;
  readonly #pastVeto: boolean;
  readonly #mirrored: boolean;
  readonly #fits = new WeakMap<LegFacts, WeakMap<LegFacts, boolean>>();
  /** By the members of the prefill pool, which are the same list as long as none of them changes. */
  readonly #known = new WeakMap<readonly Worker[], Pairs>();

  /**
   * @param pastVeto decode workers of which all are overloaded take requests all the same (smg-observed 6)
   * @param mirrored both workers get the same request at once
   */
  constructor(mode: PairingMode, pastVeto: boolean, mirrored: boolean) {
    this.#mode = mode;
    this.#pastVeto = pastVeto;
    this.#mirrored = mirrored;
  }

  of(prefill: Pool, decode: Pool): Pairs {
    const known = this.#known.get(prefill.members);
    if (known?.decode === decode.members) return known;
    const pairs = this.#pair(prefill, decode);
    this.#known.set(prefill.members, pairs);
    return pairs;
  }

  /** Why no two of them fit. */
  explain(prefill: Pool, decode: Pool): string {
    const mismatches = new Set<string>();
    for (const { legFacts: one } of prefill.members) {
      for (const { legFacts: other } of decode.members) {
        const mismatch = one === null || other === null ? null : this.#mismatch(one, other);
        if (mismatch !== null) mismatches.add(mismatch);
      }
    }
    return `mismatch on ${quoted(mismatches)}; prefill: ${namesIn(prefill)}, decode: ${namesIn(decode)}`;
  }

  #pair(prefill: Pool, decode: Pool): Pairs {
    const partners = new Map<Worker, Part>();
    for (const worker of prefill.members) {
      const fitting = (other: Worker) => this.#fit(worker.legFacts, other.legFacts);
      const members = allOr(decode.members, fitting);
      const all = members === decode.members;
      partners.set(worker, all ? decode : { members, available: decode.available.filter(fitting) });
    }
    return new Pairs(prefill, decode, partners, this.#pastVeto);
  }

  #mismatch(prefill: LegFacts, decode: LegFacts): string | null {
    if (this.#mirrored && (goesInTurn(prefill) || goesInTurn(decode))) return '--pd-dispatch mirror';
    return mismatchOf(prefill, decode, this.#mode);
  }

  /** Decided once for two sets of facts, which stay the same objects until something of them changes. */
  #fit(prefill: LegFacts | null, decode: LegFacts | null): boolean {
    if (prefill === null || decode === null) return true;
    let row = this.#fits.get(prefill);
    if (row === undefined) {
      row = new WeakMap();
      this.#fits.set(prefill, row);
    }
    let fits = row.get(decode);
    if (fits === undefined) {
      fits = this.#mismatch(prefill, decode) === null;
      row.set(decode, fits);
    }
    return fits;
  }
}

/** The pairs of two pools. Their models do not matter, since several may have the same workers. */
export class Pairs {
  /** Members of the decode pool. */
  readonly decode: readonly Worker[];
  /** False when no two of them fit, whatever their state. */
  readonly possible: boolean;
  readonly #partners: ReadonlyMap<Worker, Part>;
  readonly #usable: Part;

  constructor(prefill: Part, decode: Part, partners: ReadonlyMap<Worker, Part>, pastVeto: boolean) {
    this.decode = decode.members;
    this.possible = [...partners.values()].some(({ members }) => members.length > 0);
    this.#partners = partners;
    const open = (worker: Worker) => takesNewKeys(partners.get(worker) ?? NOBODY, pastVeto);
    this.#usable = {
      members: allOr(prefill.members, (worker) => open(worker) || keepsPins(partners.get(worker) ?? NOBODY)),
      available: allOr(prefill.available, open),
    };
  }

  /** The prefill workers that some decode worker can follow now. */
  prefillPart(pool: Pool): Pool {
    return partOf(pool, this.#usable);
  }

  /** The decode workers that fit a prefill worker. */
  partnersOf(worker: Worker, pool: Pool): Pool {
    return partOf(pool, this.#partners.get(worker) ?? NOBODY);
  }
}

function partOf(pool: Pool, { members, available }: Part): Pool {
  if (members === pool.members && available === pool.available) return pool;
  // What is cached by the ids of all members (hash rings) holds for a part of them: see `eligiblePart`.
  return { model: pool.model, members, memberIds: pool.memberIds, available };
}

function takesNewKeys(partners: Part, pastVeto: boolean): boolean {
  return partners.available.length > 0 || (pastVeto && allOverloaded(partners));
}

function keepsPins({ members }: Part): boolean {
  return members.some((worker) => worker.keepsPins);
}

/** The part of a list; the list itself when that is all of it. */
function allOr<T>(list: readonly T[], keep: (item: T) => boolean): readonly T[] {
  const kept = list.filter(keep);
  return kept.length === list.length ? list : kept;
}

function namesIn({ members }: Pool): string {
  return quoted(new Set(members.map(({ legFacts }) => (legFacts === null ? '?' : pairingText(legFacts)))));
}

function quoted(texts: ReadonlySet<string>): string {
  return `[${[...texts]
    .sort()
    .map((text) => JSON.stringify(text))
    .join(', ')}]`;
}
