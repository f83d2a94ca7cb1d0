import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe } from 'vitest';
import { openRedis } from '../../src/redis/open-redis.ts';
import type { RedisLink } from '../../src/redis/redis-link.ts';
import { RedisReplicaChannel } from '../../src/redis/redis-replica-channel.ts';
import { replicaChannelSuite } from '../../src/replicas/replica-channel.suite.ts';
import { noRedis, type RedisHandle, startRedis } from '../support/redis.ts';
import { SILENT_LINK } from '../support/silent-link.ts';
import { until } from '../support/until.ts';

describe.skipIf(noRedis())('replicas over a real Redis', () => {
  const links: RedisLink[] = [];
  let redis: RedisHandle;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(async () => {
    await Promise.all(links.map((link) => link.close()));
    await redis.stop();
  });

  function open(self: string, prefix: string): RedisReplicaChannel {
    const link = openRedis(redis.url, {
      ...{ self, prefix, username: null, passwordFile: null, caPath: null },
      claimTimeoutMs: () => 1000,
      observer: SILENT_LINK,
    });
    links.push(link);
    return new RedisReplicaChannel(link);
  }

  replicaChannelSuite('RedisReplicaChannel', async () => {
    const prefix = `smg-envoy-test-${randomUUID()}`;
    const [a, b] = [open('aaaaaaaa', prefix), open('bbbbbbbb', prefix)];
    let marks = 0;
    /** A subscription joins on its connection, so that what is published after it is repeated until it comes. */
    const delivered = async (): Promise<void> => {
      for (const channel of [a, b]) {
        let heard = false;
        const topic = `mark-${marks++}`;
        const end = channel.subscribe(topic, () => {
          heard = true;
        });
        for (const from of [a, b]) {
          heard = false;
          await until(() => {
            from.publish(topic, '');
            return heard;
          }, 'what was published has arrived');
        }
        end();
      }
    };
    await delivered();
    return { a, b, delivered };
  });
});
