import { fork } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { own } from '../lib/own.mjs';
import { cpuMs } from '../lib/proc.mjs';
import { quantile, rounded } from '../lib/stats.mjs';
import { nameOf, pinsBy, TTL_MS, WORKERS } from './client.mjs';

const KEYS = 5000;

/** What is done to keys that all replicas hold, and whether they have to hear of it. */
const TRAFFIC = {
  're-pins': async (pins, i, versions) => {
    const key = i % KEYS;
    versions[key] = (await pins.put(nameOf(key), WORKERS, versions[key], TTL_MS)).version;
  },
  claims: (pins, i) => pins.put(nameOf(KEYS + i), WORKERS, 0, TTL_MS),
  refreshes: (pins, i) => pins.touch(nameOf(i % KEYS), TTL_MS + i + 1),
};

/**
 * Milliseconds from asking for a change until a replica knows the new pin, and what that costs. Replicas are processes;
 * their clock is the monotonic one of the machine.
 */
export async function measure(redis, { replicas, rate, seconds }) {
  const rows = [];
  for (const how of ['nothing', 'pub/sub', 'tracking'])
    for (const traffic of Object.keys(TRAFFIC)) rows.push(await one(redis, { how, traffic, replicas, rate, seconds }));
  return rows;
}

async function one(redis, { how, traffic, replicas, rate, seconds }) {
  const client = new Redis(redis.url);
  await client.flushall('SYNC');
  const pins = await pinsBy(client);
  const versions = [];
  for (let i = 0; i < KEYS; i++) versions.push((await pins.put(nameOf(i), WORKERS, 0, TTL_MS)).version);
  const listeners =
    how === 'nothing' ? [] : await Promise.all(Array.from({ length: replicas }, () => listen(redis, how)));
  await pause(500);

  const before = {
    redis: cpuMs(redis.pid),
    sent: await sentBytes(client),
    cpus: listeners.map(({ pid }) => cpuMs(pid)),
  };
  const asked = new Map();
  const count = rate * seconds;
  const started = performance.now();
  for (let done = 0; done < count; ) {
    const due = Math.min(count, Math.floor(((performance.now() - started) * rate) / 1000));
    while (done < due) {
      const at = process.hrtime.bigint();
      const i = done++;
      TRAFFIC[traffic](pins, i, versions).then(() => {
        if (traffic === 're-pins') asked.set(versions[i % KEYS], at);
      });
    }
    await pause(1);
  }
  await pause(500);
  const redisMs = cpuMs(redis.pid) - before.redis;
  const bytes = (await sentBytes(client)) - before.sent;
  const cpus = listeners.map(({ pid }, i) => cpuMs(pid) - before.cpus[i]);

  const delays = [];
  for (const listener of listeners) {
    for (const [version, at] of await listener.known())
      if (asked.has(version)) delays.push(Number(BigInt(at) - asked.get(version)) / 1e6);
    listener.end();
  }
  client.disconnect();
  delays.sort((a, b) => a - b);
  return {
    how,
    traffic,
    changes: count,
    known: delays.length,
    p50Ms: rounded(quantile(delays, 0.5)),
    p99Ms: rounded(quantile(delays, 0.99)),
    redisCpuMicros: rounded((redisMs * 1000) / count),
    replicaCpuMicros: rounded((cpus.reduce((sum, ms) => sum + ms, 0) * 1000) / count / Math.max(1, cpus.length)),
    redisSentBytes: Math.round(bytes / count),
  };
}

async function sentBytes(client) {
  return Number(/^total_net_output_bytes:(\d+)/m.exec(await client.info('stats'))?.[1]);
}

async function listen(redis, how) {
  const child = own(fork(new URL('./listener.mjs', import.meta.url), [redis.url, how], { serialization: 'advanced' }));
  await new Promise((resolve) => child.once('message', resolve));
  return {
    pid: child.pid,
    known: () => {
      const answer = new Promise((resolve) => child.once('message', resolve));
      child.send('known');
      return answer;
    },
    end: () => child.kill(),
  };
}
