/** The hash index of cache_aware by number of heads: bytes of one, time of a look-up and of a record, longest single call. */
import { rounded } from '../lib/stats.mjs';
import { heldBytes } from './measure.mjs';

const { BoundaryIndex } = await import('../../dist/routing/prefixes/boundary-index.js');

const SIZES = [1000, 10_000, 100_000, 1_000_000];
const WORKERS = Array.from({ length: 8 }, (_, i) => `http://10.0.0.${i + 1}:8000`);
const TTL_MS = 1e9;
/** Few heads are looked up many times, so that the clock can tell. */
const CALLS = 200_000;

/** As `headKeys` makes them: the boundary, the namespace, 16 digits of a hash. */
const keyOf = (i) => `512::${((i * 2654435761) >>> 0).toString(16).padStart(8, '0')}${i.toString(16).padStart(8, '0')}`;

export function measureIndex() {
  fill(new BoundaryIndex({ ttlMs: TTL_MS, maxEntries: 20_000 }), 20_000);
  return SIZES.map(measureSize);
}

function measureSize(heads) {
  const empty = heldBytes();
  const index = new BoundaryIndex({ ttlMs: TTL_MS, maxEntries: heads });
  const longestRecordMs = fill(index, heads);
  const bytes = (heldBytes() - empty) / heads;
  const holdersMicros = each((i) => index.holders(keyOf((i * 7919) % heads), 1));
  const recordMicros = each((i) => index.record(keyOf((i * 7919) % heads), WORKERS[i % 8], 1));
  const recordAtCapMicros = each((i) => index.record(keyOf(heads + i), WORKERS[i % 8], 1));
  return {
    heads,
    bytesPerHead: Math.round(bytes),
    holdersMicros: rounded(holdersMicros),
    recordMicros: rounded(recordMicros),
    recordAtCapMicros: rounded(recordAtCapMicros),
    longestRecordMs: rounded(longestRecordMs),
  };
}

/** Answers with the longest single call in milliseconds. */
function fill(index, heads) {
  let longest = 0;
  for (let i = 0; i < heads; i++) {
    const key = keyOf(i);
    const before = performance.now();
    index.record(key, WORKERS[i % 8], 0);
    longest = Math.max(longest, performance.now() - before);
  }
  return longest;
}

function each(call) {
  const start = performance.now();
  for (let i = 0; i < CALLS; i++) call(i);
  return ((performance.now() - start) * 1000) / CALLS;
}
