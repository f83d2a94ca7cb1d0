/** What the shared store costs where no replica is lost: decisions, new keys, memory, and processor time of both sides. */
import { fork } from 'node:child_process';
import { own } from '../lib/own.mjs';
import { median, rounded } from '../lib/stats.mjs';

/** Largest ratio of a known key's decision, and longest wait of a new key for its 99th of 100. */
const KNOWN_RATIO = 1.05;
const NEW_P99_MS = 2;
const REDIS_BYTES = 200;
const PROCESS_BYTES = 150;
const PROCESSES = 9;

export async function costs(kit, settings) {
  const redis = await kit.startRedis();
  try {
    const known = [];
    // How the compiler went about it differs from process to process by more than what is measured.
    for (let i = 0; i < PROCESSES; i++) known.push(await measure('known', redis, settings));
    const figures = {
      known: middle(known),
      fresh: await measure('fresh', redis, settings),
      memory: await measure('memory', redis, settings),
    };
    const { fresh, memory } = figures;
    const { ratio } = figures.known;
    const problems = [];
    if (ratio > KNOWN_RATIO) problems.push(`a known key costs ${ratio} times what it does in memory`);
    if (fresh.p99Ms > NEW_P99_MS) problems.push(`new keys wait ${fresh.p99Ms} ms at p99`);
    const [{ redisBytes, processBytes }] = memory.rows;
    if (redisBytes > REDIS_BYTES) problems.push(`${redisBytes} bytes of a pin in Redis`);
    if (processBytes > PROCESS_BYTES) problems.push(`${processBytes} bytes of a pin in the process`);
    return { ...figures, problems };
  } finally {
    await redis.stop();
  }
}

/** One part, in a process of its own: the heap of this one holds other things. */
function measure(part, redis, settings) {
  const args = [part, redis.url, String(redis.pid), JSON.stringify(settings)];
  const program = new URL('./cost-process.mjs', import.meta.url);
  const child = own(fork(program, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] }));
  return new Promise((resolve, reject) => {
    child.once('message', resolve);
    child.once('exit', (code) => reject(new Error(`the measurement ended with code ${code}`)));
  });
}

/** The median of each figure over the processes. */
function middle(rows) {
  const entries = Object.keys(rows[0]).map((name) => [name, rounded(median(rows.map((row) => row[name])))]);
  return { processes: rows.length, ...Object.fromEntries(entries) };
}
