/** What the shared store costs where no replica is lost: decisions, new keys, memory, and processor time of both sides. */
import { fork } from 'node:child_process';
import { own } from '../lib/own.mjs';

/** Largest ratio of a known key's decision, and longest wait of a new key for its 99th of 100. */
const KNOWN_RATIO = 1.05;
const NEW_P99_MS = 2;
const REDIS_BYTES = 200;
const PROCESS_BYTES = 150;

export async function costs(kit, settings) {
  const redis = await kit.startRedis();
  try {
    const args = [redis.url, String(redis.pid), JSON.stringify(settings)];
    const program = new URL('./cost-process.mjs', import.meta.url);
    // A process of its own: the heap of this one holds other things.
    const child = own(fork(program, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] }));
    const figures = await new Promise((resolve, reject) => {
      child.once('message', resolve);
      child.once('exit', (code) => reject(new Error(`the measurement ended with code ${code}`)));
    });
    const { known, fresh, memory } = figures;
    const problems = [];
    if (known.ratio > KNOWN_RATIO) problems.push(`a known key costs ${known.ratio} times what it does in memory`);
    if (fresh.p99Ms > NEW_P99_MS) problems.push(`new keys wait ${fresh.p99Ms} ms at p99`);
    const [{ redisBytes, processBytes }] = memory.rows;
    if (redisBytes > REDIS_BYTES) problems.push(`${redisBytes} bytes of a pin in Redis`);
    if (processBytes > PROCESS_BYTES) problems.push(`${processBytes} bytes of a pin in the process`);
    return { ...figures, problems };
  } finally {
    await redis.stop();
  }
}
