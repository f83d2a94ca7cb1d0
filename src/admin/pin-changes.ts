import { setTimeout as pause } from 'node:timers/promises';
import { type Pin, type PinStore, PinStoreAway } from '../pins/pin-store.ts';
import { front } from '../routing/candidates.ts';

/** What is known of a pin. */
export interface FoundPin {
  readonly name: string;
  /** What this process goes by; null when it does not hold the key. */
  readonly local: Pin | null;
  /** What holds for all replicas; null when it does not hold the key, or could not be asked. */
  readonly shared: Pin | null;
  readonly away: boolean;
}

/**
 * The first of some names that is pinned, in this process or in the store. `away`: not in this process, and the store does
 * not answer.
 */
export async function findPin(pins: PinStore, names: readonly string[]): Promise<FoundPin | 'unknown' | 'away'> {
  let someAway = false;
  for (const name of names) {
    const { pin: shared, away } = await fetched(pins, name);
    const local = pins.peek(name) ?? null;
    if (local !== null || shared !== null) return { name, local, shared, away };
    someAway ||= away;
  }
  return someAway ? 'away' : 'unknown';
}

async function fetched(pins: PinStore, name: string): Promise<{ readonly pin: Pin | null; readonly away: boolean }> {
  try {
    return { pin: (await pins.fetch(name)) ?? null, away: false };
  } catch (error) {
    if (error instanceof PinStoreAway) return { pin: null, away: true };
    throw error;
  }
}

/**
 * `moved` and `deleted` hold for all replicas; `away`: the store does not answer; `contended`: others wrote the pin again and
 * again.
 */
export type MoveOutcome = 'moved' | 'unknown' | 'away' | 'contended';
export type DeleteOutcome = 'deleted' | 'unknown' | 'away';

const MAX_TRIES = 20;
const PAUSE_MS = 25;

/** Puts a worker in front of a pin, whatever the write mode, until the store says so itself. */
export async function movePin(pins: PinStore, name: string, workerId: string, now: () => number): Promise<MoveOutcome> {
  let local: Pin | undefined;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const { pin: shared, away } = await fetched(pins, name);
    if (away) return 'away';
    local = pins.peek(name);
    const current = local ?? shared;
    if (current === null) return 'unknown';
    if (shared?.candidates[0] === workerId && current.candidates[0] === workerId) return 'moved';
    // A store that is slow gets writes after the answer.
    if (tries > 1) await pause(PAUSE_MS);
    await pins.put(name, front(current.candidates, workerId), current.version, now());
  }
  return local?.candidates[0] === workerId ? 'away' : 'contended';
}

export async function deletePin(pins: PinStore, name: string): Promise<DeleteOutcome> {
  try {
    return (await pins.delete(name)) ? 'deleted' : 'unknown';
  } catch (error) {
    if (error instanceof PinStoreAway) return 'away';
    throw error;
  }
}
