import { Dice } from './dice.ts';

/** What can happen in a run. Each run has some of it, not all: faults hide each other. */
export interface Traits {
  readonly replicas: number;
  readonly workers: number;
  readonly conversations: number;
  /** Virtual milliseconds in which things happen. */
  readonly spanMs: number;
  readonly acts: number;
  readonly maxIdleMs: number;
  readonly sweepMs: number;
  readonly maxPins: number;
  /** Longest way of a call or an answer while the store is well. */
  readonly latencyMs: number;
  /** Longest way of a change. */
  readonly deliveryMs: number;
  /** Calls of a replica overtake each other, as in a Cluster or over two connections. */
  readonly callsOvertake: boolean;
  readonly changesOvertake: boolean;
  /** Share of changes that are lost one by one. */
  readonly lostChanges: number;
  readonly brokenSubscriptions: boolean;
  readonly crashes: boolean;
  readonly workerDeaths: boolean;
  readonly caps: boolean;
  readonly adminMoves: boolean;
  readonly deletes: boolean;
  /** The store is killed, stopped, slow, or cannot be reached by one of the replicas. */
  readonly outages: boolean;
  /** Shares of calls that are refused, and of those that are carried out and not answered. */
  readonly refusedCalls: number;
  readonly lostAnswers: number;
  /** The store loses all, its last writes, or single keys; its clock may step back then. */
  readonly losses: boolean;
}

export const CLAIM_TIMEOUT_MS = 50;

export function traitsOf(seed: number): Traits {
  const dice = new Dice(seed * 2 + 1);
  const some = (): boolean => dice.chance(0.35);
  const storms = dice.chance(0.5);
  const maxIdleMs = dice.pick([0, 0, 2000, 2000, 10_000, 100_000]);
  const spanMs = dice.pick([300, 2000, 10_000, 40_000]);
  const outages = storms && dice.chance(0.6);
  const refusedCalls = storms && some() ? dice.pick([0.05, 0.4]) : 0;
  const lostAnswers = storms && some() ? dice.pick([0.02, 0.2]) : 0;
  const calm = !outages && refusedCalls + lostAnswers === 0;
  return {
    replicas: 2 + dice.below(3),
    workers: 2 + dice.below(4),
    conversations: 1 + dice.below(4),
    spanMs,
    acts: dice.pick([6, 15, 40, 80]),
    maxIdleMs,
    sweepMs: maxIdleMs === 0 ? 0 : maxIdleMs * dice.pick([0.1, 0.5, 2]),
    maxPins: dice.chance(0.2) ? 1 + dice.below(3) : 1000,
    // A request may ask three times within the bound.
    latencyMs: dice.pick(calm ? [1, 5, 8] : [1, 5, 20]),
    deliveryMs: dice.pick([1, 20, 100]),
    callsOvertake: some(),
    changesOvertake: some(),
    lostChanges: some() ? dice.pick([0.1, 0.5, 1]) : 0,
    brokenSubscriptions: some(),
    crashes: some(),
    workerDeaths: some(),
    caps: some(),
    adminMoves: some(),
    deletes: some(),
    outages,
    refusedCalls,
    lostAnswers,
    losses: storms && some(),
  };
}

/** The store answers every call within the bound. */
export function isCalm(traits: Traits): boolean {
  return !traits.outages && traits.refusedCalls === 0 && traits.lostAnswers === 0;
}

/** Every change reaches every replica. */
export function delivers(traits: Traits): boolean {
  return traits.lostChanges === 0 && !traits.brokenSubscriptions && !traits.outages;
}

/** No conversation is ever moved or forgotten by intent. */
export function staysPut(traits: Traits): boolean {
  return !traits.workerDeaths && !traits.caps && !traits.adminMoves && !traits.deletes;
}
