import { Redis } from 'ioredis';
import { nameOf, PREFIX, pinsBy, TTL_MS, WORKERS } from './client.mjs';

/** Bytes of a pin in Redis: by MEMORY USAGE of one, and all that `used_memory` grows by, tables included. */
export async function measure(redis, { pins: count }) {
  const client = new Redis(redis.url);
  const pins = await pinsBy(client);
  const rows = [];
  for (const [what, candidates, ttlMs] of [
    ['one candidate', WORKERS.slice(0, 1), TTL_MS],
    ['two candidates', WORKERS, TTL_MS],
    ['one candidate, no end', WORKERS.slice(0, 1), 0],
    ['two candidates, no end', WORKERS, 0],
    ['deleted', null, 0],
  ]) {
    await client.flushall('SYNC');
    const before = await usedMemory(client);
    for (let from = 0; from < count; from += 1000) {
      const calls = [];
      for (let i = from; i < Math.min(count, from + 1000); i++)
        calls.push(candidates === null ? pins.remove(nameOf(i)) : pins.put(nameOf(i), candidates, 0, ttlMs));
      await Promise.all(calls);
    }
    await untilRehashed(client);
    const grown = (await usedMemory(client)) - before;
    const usage = await client.memory('USAGE', `${PREFIX}:p:${nameOf(0)}`, 'SAMPLES', 0);
    rows.push({ what, pins: count, memoryUsage: usage, bytesEach: Math.round(grown / count) });
  }
  client.disconnect();
  return rows;
}

async function usedMemory(client) {
  return Number(/^used_memory:(\d+)/m.exec(await client.info('memory'))?.[1]);
}

/** A table that grows is there twice. Any access takes it further. */
async function untilRehashed(client) {
  for (;;) {
    const stats = await client.call('DEBUG', 'HTSTATS', '0');
    if (!String(stats).includes('rehashing target')) return;
    await Promise.all(Array.from({ length: 1000 }, (_, i) => client.exists(nameOf(i))));
  }
}
