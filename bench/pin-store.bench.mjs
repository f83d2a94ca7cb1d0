/**
 * Memory and pauses of the pin store: `npm run build && node --expose-gc bench/pin-store.bench.mjs [pins]`.
 *
 * Reports bytes per pin beside the key (heap and buffers), time per call, and the longest single call, which is the pause
 * that a request would see.
 */
const { MemoryPinStore } = await import(process.env.PIN_STORE ?? '../dist/pins/memory-pin-store.js');

const PINS = Number(process.argv[2] ?? 1_000_000);
const WORKERS = Array.from({ length: 8 }, (_, i) => `http://10.0.0.${i + 1}:8000`);

/** A key as the router makes it: a string of its own, joined from two. */
const keyOf = (i) => `7:llama-3:s:${`conversation-${i.toString(16).padStart(16, '0')}`}`;

function memory() {
  globalThis.gc();
  globalThis.gc();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

function timed(label, calls, run) {
  let longest = 0;
  const start = performance.now();
  for (let i = 0; i < calls; i++) {
    const before = performance.now();
    run(i);
    longest = Math.max(longest, performance.now() - before);
  }
  const micros = ((performance.now() - start) * 1000) / calls;
  console.log(`${label}\t${micros.toFixed(2)} µs a call\tlongest ${longest.toFixed(1)} ms`);
}

const bare = Array.from({ length: PINS });
const before = memory();
for (let i = 0; i < PINS; i++) {
  bare[i] = keyOf(i);
  bare[i].charCodeAt(0);
}
const keyBytes = (memory() - before) / PINS;
bare.length = 0;

const empty = memory();
const store = new MemoryPinStore({ maxPins: PINS });
const candidates = (i) => (i % 3 === 0 ? [WORKERS[i % 8], WORKERS[(i + 1) % 8]] : [WORKERS[i % 8]]);

timed('put, new key', PINS, (i) => store.put(keyOf(i), candidates(i), 0, i));
console.log(
  `${((memory() - empty) / PINS - keyBytes).toFixed(0)} bytes a pin beside ${keyBytes.toFixed(0)} of its key`,
);
timed('get', PINS, (i) => store.get(keyOf((i * 7919) % PINS), PINS + i));
timed('put at the cap', PINS, (i) => store.put(keyOf(PINS + i), candidates(i), 0, 2 * PINS + i));
console.log(`${((memory() - empty) / PINS - keyBytes).toFixed(0)} bytes a pin after as many replacements`);
timed('sweep', Math.ceil(PINS / 2_000), () => store.sweep(1e12, 1));
console.log(`${store.size} pins left`);
