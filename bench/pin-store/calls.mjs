import { Redis } from 'ioredis';
import { cpuMs } from '../lib/proc.mjs';
import { quantile, rounded } from '../lib/stats.mjs';
import { nameOf, pinsBy, TTL_MS, WORKERS } from './client.mjs';

const WRITES = {
  'each by itself': {},
  autopipelining: { options: { enableAutoPipelining: true } },
  'a turn of the loop at once': { corked: true },
};

/** Milliseconds of a call and calls a second, by one connection. */
export async function measure(redis, { calls, abreast }) {
  const rows = [];
  for (const [written, { options = {}, corked = false }] of Object.entries(WRITES)) {
    const client = new Redis(redis.url, options);
    const pins = await pinsBy(client, { corked });
    for (const inFlight of [1, abreast]) {
      await client.flushall('SYNC');
      const key = (i) => nameOf(i);
      const put = (i) => pins.put(key(i), WORKERS, 0, TTL_MS);
      const touch = (i) => pins.touch(key(i), TTL_MS + i);
      // Compiled code and a warm server.
      await run((i) => pins.put(key(-1 - i), WORKERS, 0, TTL_MS), 2000, inFlight);
      rows.push({ written, call: 'put of a new key', inFlight, ...(await timed(put, calls, inFlight, redis)) });
      rows.push({ written, call: 'touch', inFlight, ...(await timed(touch, calls, inFlight, redis)) });
    }
    client.disconnect();
  }
  return rows;
}

async function timed(call, calls, inFlight, redis) {
  const own = process.cpuUsage();
  const server = cpuMs(redis.pid);
  const started = performance.now();
  const latencies = await run(call, calls, inFlight);
  const ms = performance.now() - started;
  const used = process.cpuUsage(own);
  latencies.sort((a, b) => a - b);
  return {
    p50Ms: rounded(quantile(latencies, 0.5)),
    p99Ms: rounded(quantile(latencies, 0.99)),
    callsPerSecond: Math.round(calls / (ms / 1000)),
    clientCpuMicros: rounded((used.user + used.system) / calls),
    redisCpuMicros: rounded(((cpuMs(redis.pid) - server) * 1000) / calls),
  };
}

/** Always `inFlight` calls under way, until `calls` are done. */
async function run(call, calls, inFlight) {
  const latencies = [];
  let next = 0;
  const one = async () => {
    while (next < calls) {
      const started = performance.now();
      await call(next++);
      latencies.push(performance.now() - started);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, one));
  return latencies;
}
