import type { Worker } from '../workers/worker.ts';

/** Draws from the key's numbers before the rest are simply tried in order. */
const DRAWS = 8;

/** Where a key starts in any list of workers: 32 bits, FNV-1a of its UTF-16 units, mixed as MurmurHash3 ends. Hot path. */
export function startOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/**
 * One of `candidates` that is not in `taken`, null when none is left: for one key always the same while the candidates
 * are, so that all its requests go on together, and for many keys all of them alike. Hot path.
 */
export function nextByKey(candidates: readonly Worker[], taken: readonly Worker[], start: number): Worker | null {
  const count = candidates.length;
  let draw = start;
  for (let i = 0; i < DRAWS; i++) {
    const worker = candidates[Math.floor((draw / 2 ** 32) * count)];
    if (worker !== undefined && !taken.includes(worker)) return worker;
    draw = (Math.imul(draw, 1664525) + 1013904223) >>> 0; // its high bits are the good ones
  }
  for (const worker of candidates) if (!taken.includes(worker)) return worker;
  return null;
}
