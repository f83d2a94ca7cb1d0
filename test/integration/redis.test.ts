import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Child, noRedis, type RedisHandle, startRedis } from '../support/services.ts';

const PROGRAM = fileURLToPath(new URL('../../bin/smg-envoy.js', import.meta.url));

describe.skipIf(noRedis())('a real Redis', () => {
  let redis: RedisHandle;
  let client: Redis;
  beforeAll(async () => {
    redis = await startRedis();
    client = new Redis(redis.url, { keyPrefix: `smg-envoy-test-${process.pid}:` });
  });
  afterAll(async () => {
    await client.quit();
    await redis.stop();
  });

  it('claims a key once however many ask at once, as shared pins will need it', async () => {
    const claim =
      "return redis.call('SET', KEYS[1], ARGV[1], 'NX', 'EX', 60) and ARGV[1] or redis.call('GET', KEYS[1])";

    const winners = await Promise.all(['a', 'b', 'c', 'd'].map((worker) => client.eval(claim, 1, 'conv', worker)));

    expect(new Set(winners).size).toBe(1);
    expect(await client.del('conv')).toBe(1);
  });

  it.each(['serve', 'demo'])(
    '%s refuses it by name until pins can be shared, and never falls back to memory',
    async (command) => {
      const child = new Child(process.execPath, [PROGRAM, command, '--pin-store', redis.url]);

      expect(await child.ended()).toBe(2);
      expect(child.output).toMatch(/^smg-envoy: .*--pin-store .*not supported/m);
      expect(child.output).not.toContain('ready');
    },
  );
});
