/** The pin store by number of keys: bytes of a pin beside its key, time of a write and of a look-up, longest single call. */
import { rounded } from '../lib/stats.mjs';
import { heldBytes } from './measure.mjs';

const { MemoryPinStore } = await import('../../dist/pins/memory-pin-store.js');

const SIZES = [1000, 100_000, 1_000_000];
const WORKERS = Array.from({ length: 8 }, (_, i) => `http://10.0.0.${i + 1}:8000`);
/** Few pins are stored and looked up many times, so that the clock can tell. */
const LOOK_UPS = 300_000;

/** A key as the router makes it: a string of its own, joined from two. */
const keyOf = (i) => `5:bench:s:${`conversation-${i.toString(16).padStart(16, '0')}`}`;
const candidatesOf = (i) => (i % 3 === 0 ? [WORKERS[i % 8], WORKERS[(i + 1) % 8]] : [WORKERS[i % 8]]);

export function measurePins() {
  fill(new MemoryPinStore({ maxPins: 50_000 }), 50_000);
  return SIZES.map(measureSize);
}

function measureSize(pins) {
  const keys = Array.from({ length: pins });
  const bare = heldBytes();
  for (let i = 0; i < pins; i++) {
    keys[i] = keyOf(i);
    keys[i].charCodeAt(0);
  }
  const keyBytes = (heldBytes() - bare) / pins;

  const store = new MemoryPinStore({ maxPins: pins });
  const empty = heldBytes();
  const longestPut = fill(store, pins, keys);
  // The store holds the same strings as `keys`, so that only its own share is counted.
  const bytes = (heldBytes() - empty) / pins;

  const start = performance.now();
  for (let i = 0; i < LOOK_UPS; i++) {
    if (store.get(keys[(i * 7919) % pins], pins + i) === undefined) throw new Error('a pin is missing');
  }
  const getMicros = ((performance.now() - start) * 1000) / LOOK_UPS;

  const began = performance.now();
  for (let i = 0; i < pins; i++) store.put(keyOf(pins + i), candidatesOf(i), 0, 2 * pins + i);
  const putMicros = ((performance.now() - began) * 1000) / pins;
  // Now its keys are its own.
  const bytesReplaced = (heldBytes() - empty) / pins - keyBytes;
  // Both have to live until they were measured.
  if (store.size !== pins || keys.length !== pins) throw new Error('pins are missing');
  return {
    pins,
    bytesPerPin: Math.round(bytes),
    bytesAfterReplacements: Math.round(bytesReplaced),
    keyBytes: Math.round(keyBytes),
    getMicros: rounded(getMicros),
    putAtCapMicros: rounded(putMicros),
    longestPutMs: rounded(longestPut),
  };
}

/** Answers with the longest single write in milliseconds. */
function fill(store, pins, keys) {
  let longest = 0;
  for (let i = 0; i < pins; i++) {
    const before = performance.now();
    store.put(keys?.[i] ?? keyOf(i), candidatesOf(i), 0, i);
    longest = Math.max(longest, performance.now() - before);
  }
  return longest;
}
