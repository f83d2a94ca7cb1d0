/**
 * Sticky selection: which worker a key is on, and where it goes when that one cannot serve. Shared by the override and by
 * `manual`; stands above the policies, which know nothing of it. Hot path.
 */
import type { PinStore } from '../pins/pin-store.ts';
import type { Pool } from '../workers/snapshot.ts';
import { NO_WORKERS, type Worker } from '../workers/worker.ts';
import { type AssignmentMode, assign } from './assignment.ts';
import { behind, front, type WriteMode } from './candidates.ts';
import type { PinWrite } from './decision.ts';
import { exitsOf } from './hot-pin.ts';
import { among, type Placement, type Policy } from './policy.ts';
import { workersById } from './workers-by-id.ts';

/** The look-ups that a decision makes. */
export type PinLookup = Pick<PinStore, 'get' | 'peek'>;

export interface StickyRules {
  /** How a key gets a worker; `delegate` asks the policy. */
  readonly mode: AssignmentMode;
  /** How a new placement of a known or unknown key is written (sticky-sessions 3.6). */
  readonly write: WriteMode;
  /** Requests of one key in flight on its worker that make the next one be placed again (sticky-sessions 3.5); 0: never. */
  readonly inflightCap: number;
  /** Multiple of the mean load above which a key leaves its worker (see `exitsOf`); 0: never. */
  readonly pinLoadFactor: number;
}

/** Outcome of a sticky selection. */
export interface StickyChoice {
  /** Null when the policy declined. */
  readonly worker: Worker | null;
  /** Another worker of the key's candidates that can serve too; null when there is none. */
  readonly other: Worker | null;
  readonly write: PinWrite | null;
}

/**
 * Steps 3 to 7 of sticky-sessions 3.5, and the keyed part of 3.8. Notes the branch on the trail of `placement`.
 *
 * A candidate matches when it is in the pool and keeps its pins, also while it drains; a new placement goes to a placeable
 * worker only. The caller commits the write before the decision holds. Null when nobody can take the key.
 */
export function chooseSticky(
  rules: StickyRules,
  policy: Policy,
  pins: PinLookup,
  pinKey: string,
  loadKey: string | null,
  placement: Placement,
): StickyChoice | null {
  const { pool, trail } = placement;
  const pin = placement.rehearsal === null ? pins.get(pinKey, placement.now) : pins.peek(pinKey);
  const candidates = pin === undefined ? NO_IDS : pin.candidates;
  const version = pin === undefined ? 0 : pin.version;
  const pinned = firstServing(candidates, pool, null);

  if (pinned !== null && !saturated(rules, pinned, loadKey)) {
    const moved = moveFromHot(rules, policy, pinned, loadKey, placement);
    if (moved !== null) {
      trail.stickyBranch = 'cap_respill';
      const write = { key: pinKey, candidates: front(candidates, moved.id), expectedVersion: version };
      return { worker: moved, other: firstServing(candidates, pool, moved), write };
    }
    trail.stickyBranch = 'occupied_hit';
    return { worker: pinned, other: firstServing(candidates, pool, pinned), write: null };
  }

  if (placement.candidates.length === 0) {
    trail.stickyBranch = pinned === null ? 'no_healthy_workers' : 'cap_respill';
    return pinned === null ? null : { worker: pinned, other: firstServing(candidates, pool, pinned), write: null };
  }

  trail.stickyBranch = pinned !== null ? 'cap_respill' : pin === undefined ? 'vacant' : 'occupied_miss';
  const placed = place(rules, policy, placement);
  if (placed === null) return { worker: null, other: null, write: null };

  const other = firstServing(candidates, pool, placed);
  if (pinned !== null && (placed === pinned || saturated(rules, placed, loadKey))) {
    return { worker: placed, other, write: null };
  }
  const inFront = pinned !== null || rules.write === 'front';
  const written = inFront ? front(candidates, placed.id) : behind(candidates, placed.id);
  return { worker: placed, other, write: { key: pinKey, candidates: written, expectedVersion: version } };
}

/** True when a decision made now would go by the pin alone, so that the policy is not asked. Changes nothing. */
export function pinDecides(
  rules: StickyRules,
  pins: Pick<PinStore, 'peek'>,
  pinKey: string,
  loadKey: string,
  pool: Pool,
): boolean {
  const pinned = firstServing(pins.peek(pinKey)?.candidates ?? NO_IDS, pool, null);
  if (pinned === null || saturated(rules, pinned, loadKey)) return false;
  return exits(rules, pinned, loadKey, pool.available).length === 0;
}

const NO_IDS: readonly string[] = [];

function place(rules: StickyRules, policy: Policy, placement: Placement): Worker | null {
  return rules.mode === 'delegate'
    ? policy.pick(placement)
    : assign(rules.mode, placement.candidates, placement.random);
}

/** Where a key may go whose worker has too much to do; empty when it stays. */
function exits(
  rules: StickyRules,
  pinned: Worker,
  loadKey: string | null,
  available: readonly Worker[],
): readonly Worker[] {
  if (rules.pinLoadFactor === 0 || available.length === 0) return NO_WORKERS;
  const cooler = exitsOf(pinned, available, rules.pinLoadFactor);
  return cooler.length === 0 ? NO_WORKERS : cooler.filter((worker) => !saturated(rules, worker, loadKey));
}

/** Where a key goes whose worker has too much to do; null when it stays. */
function moveFromHot(
  rules: StickyRules,
  policy: Policy,
  pinned: Worker,
  loadKey: string | null,
  placement: Placement,
): Worker | null {
  const candidates = exits(rules, pinned, loadKey, placement.candidates);
  return candidates.length === 0 ? null : place(rules, policy, among(placement, candidates));
}

function saturated(rules: StickyRules, worker: Worker, loadKey: string | null): boolean {
  return rules.inflightCap > 0 && loadKey !== null && worker.load.ofKey(loadKey) >= rules.inflightCap;
}

/** First candidate that can serve and is not `except`. */
function firstServing(candidates: readonly string[], pool: Pool, except: Worker | null): Worker | null {
  if (candidates.length === 0) return null;
  const members = workersById(pool.members);
  // By index: V8 makes an object for each step of an iteration over a frozen list, which stored candidates are.
  for (let i = 0; i < candidates.length; i++) {
    const worker = members.get(candidates[i] ?? '');
    if (worker?.keepsPins && worker !== except) return worker;
  }
  return null;
}

/** True when a pin of some key can still be served: by a placeable worker or by one that drains. */
export function anyKeepsPins(pool: Pool): boolean {
  if (pool.available.length > 0) return true;
  for (const worker of pool.members) if (worker.keepsPins) return true;
  return false;
}
