/**
 * Compares BLAKE3 implementations by input length: `node bench/hash.bench.mjs`.
 *
 * @noble/hashes is no dependency; it joins in when it can be found (`npm install --no-save @noble/hashes@2.4.0`).
 */
import { createBLAKE3 } from 'hash-wasm';

const LENGTHS = [32, 64, 128, 65_536];
const ROUNDS = 5;
const ROUND_MS = 200;

const wasm = await createBLAKE3();
const candidates = [['hash-wasm', (bytes) => wasm.init().update(bytes).digest('binary')]];
try {
  const { blake3 } = await import('@noble/hashes/blake3.js');
  candidates.push(['@noble/hashes', (bytes) => blake3(bytes, { dkLen: 8 })]);
} catch {
  console.error('@noble/hashes is not installed: measured without it');
}

/** Microseconds per call, the best of some rounds: the least disturbed one. */
function measure(hash, bytes) {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round++) {
    const start = performance.now();
    let calls = 0;
    let end = start;
    while (end - start < ROUND_MS) {
      for (let i = 0; i < 20; i++) hash(bytes);
      calls += 20;
      end = performance.now();
    }
    best = Math.min(best, ((end - start) * 1000) / calls);
  }
  return best;
}

console.log(`node ${process.version}, microseconds per hash (best of ${ROUNDS} rounds)`);
console.log(['package', ...LENGTHS.map((n) => `${n} B`)].join('\t'));
for (const [name, hash] of candidates) {
  const row = LENGTHS.map((n) => measure(hash, new Uint8Array(n).fill(0x61)).toFixed(2));
  console.log([name, ...row].join('\t'));
}
