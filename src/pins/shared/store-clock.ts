/**
 * How far a version may be ahead of the store's clock, in milliseconds. Versions are given by that clock, in microseconds; a
 * later one was not given by this store, and nothing could ever be written over it. `lua/stored-pin.lua` says the same.
 */
export const MAX_AHEAD_MS = 86_400_000;

/** @param storeNow milliseconds since 1970 by the clock of the store */
export function isOfStore(version: number, storeNow: number): boolean {
  return version <= (storeNow + MAX_AHEAD_MS) * 1000;
}
