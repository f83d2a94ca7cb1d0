import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { noRedisServer, type RedisHandle, startRedis, until } from '../support/services.ts';
import { openLinks, PREFIX, untilState } from '../support/test-redis-link.ts';

const { open, closeAll } = openLinks();

/** A Redis that other programs and deployments write to. */
describe.skipIf(noRedisServer())('the link beside others on one Redis', () => {
  let redis: RedisHandle;
  let admin: Redis;
  beforeAll(async () => {
    redis = await startRedis();
    admin = new Redis(redis.url);
  });
  afterEach(closeAll);
  afterAll(async () => {
    admin.disconnect();
    await redis.stop();
  });

  it('is down where its database is refused, and never goes on in the first one', async () => {
    const link = open(`${redis.url}/99`);

    await until(() => link.failures.length > 1, 'the database was refused, again and again');

    expect(link.state).toBe('down');
    expect(await admin.keys(`${PREFIX}:*`)).toEqual([]);
  });

  it('is in its database, and hears nothing of others', async () => {
    const [first, second] = [open(`${redis.url}/0`), open(`${redis.url}/2`)];
    await untilState(first, 'up');
    await untilState(second, 'up');
    const heard: string[] = [];
    second.subscribe(`${second.prefix}:t`, (message) => heard.push(message));
    await until(
      () => second.publish(`${second.prefix}:t`, 'own') && heard.includes('own'),
      'the second one hears itself',
    );

    first.publish(`${first.prefix}:t`, 'of the first');
    second.publish(`${second.prefix}:t`, 'last');
    await until(() => heard.includes('last'), 'what was published before has come, too');

    expect(heard).not.toContain('of the first');
    expect(await admin.keys(`${PREFIX}:@2:p:*`)).toEqual([]);
    expect(await first.run('get', [`${PREFIX}:epoch`])).not.toBe(await second.run('get', [`${second.prefix}:epoch`]));
  });

  it("overwrites somebody else's value under the key of its epoch", async () => {
    await admin.del(`${PREFIX}:epoch`);
    await admin.lpush(`${PREFIX}:epoch`, 'x');

    await untilState(open(redis.url), 'up');

    expect(await admin.type(`${PREFIX}:epoch`)).toBe('string');
  });
});
