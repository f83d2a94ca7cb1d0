/**
 * Times pieces of code. A case is `{ name, run(count), prepare?(count), finish?(), most?, allocates? }`: `run` does `count`
 * operations and is timed; what stands around it is not. Cases take turns, so that a machine that slows down slows all.
 */

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { median, quantile, rounded } from '../lib/stats.mjs';

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc');

/** So that what came before does not count. */
export function collectGarbage() {
  gc();
  gc();
}

const WARM_UP_MS = 60;
/** Few enough not to be collected in between. */
const ALLOCATION_BATCH = 400;
const ALLOCATION_ROUNDS = 7;

/** Answers each case with the microseconds of one operation (median of the rounds, and the best) and its bytes allocated. */
export function measure(cases, { rounds, ms }) {
  const times = cases.map(() => []);
  for (const each of cases) timed(each, WARM_UP_MS);
  for (let round = 0; round < rounds; round++) {
    for (const [index, each] of cases.entries()) times[index].push(timed(each, ms));
  }
  return cases.map((each, index) => ({
    name: each.name,
    ...each.facts,
    micros: rounded(median(times[index])),
    best: rounded(Math.min(...times[index])),
    ...(each.allocates === false ? {} : { bytes: allocation(each) }),
  }));
}

/** Microseconds of one operation over batches that take `ms` together. */
function timed(each, ms) {
  let count = Math.min(each.most ?? Number.POSITIVE_INFINITY, 10);
  let operations = 0;
  let spent = 0;
  while (spent < ms) {
    each.prepare?.(count);
    const start = performance.now();
    each.run(count);
    const took = performance.now() - start;
    each.finish?.();
    operations += count;
    spent += took;
    if (took < 2) count = Math.min(each.most ?? 1_000_000, count * 2);
  }
  return (spent * 1000) / operations;
}

/** Microseconds of operations that are timed one by one, the clock's own share in them: the middle, and the 99th of 100. */
export function tail(each, operations) {
  const times = new Float64Array(operations);
  for (let i = 0; i < operations; i++) {
    const start = performance.now();
    each.run(1);
    times[i] = (performance.now() - start) * 1000;
  }
  times.sort();
  return { median: rounded(quantile(times, 0.5)), p99: rounded(quantile(times, 0.99)) };
}

function allocation(each) {
  const count = Math.min(each.most ?? ALLOCATION_BATCH, ALLOCATION_BATCH);
  const found = [];
  for (let round = 0; round < ALLOCATION_ROUNDS; round++) {
    each.prepare?.(count);
    gc();
    const before = process.memoryUsage().heapUsed;
    each.run(count);
    found.push((process.memoryUsage().heapUsed - before) / count);
    each.finish?.();
  }
  return Math.max(0, Math.round(median(found)));
}

/** Bytes held by the heap and by buffers, garbage gone. */
export function heldBytes() {
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
