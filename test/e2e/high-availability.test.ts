import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  KeyLoad,
  noEnvoy,
  noRedis,
  type RedisHandle,
  type Replicas,
  type Replies,
  spray,
  startRedis,
  startReplicas,
} from '../support/services.ts';

/**
 * No key moves because two requests of it run at once: every split would be the store's doing. A machine that is busy with other
 * tests may take longer than the 50 ms of the default. A header key is taken from the head, so that a replica that is lost
 * leaves nothing half read.
 */
const FLAGS = [
  ...['--pin-inflight-cap', '0', '--pin-claim-timeout-ms', '200'],
  ...['--routing-key-order', 'header-first'],
];

/** A machine that has no time for a decision within 250 ms has Envoy place the request: that may happen, but to few. */
function expectWhole(replies: Replies): void {
  expect(replies.errors).toEqual([]);
  expect(replies.picked.splits).toEqual([]);
  expect(replies.unpicked).toBeLessThanOrEqual(replies.all.length / 100);
}

/** Few at a time: what is proven is that nothing is split, not how much a busy machine can do. */
const PLAY = { turns: 5, racing: 2, abreast: 8 };

describe.skipIf(noEnvoy() || noRedis())('three replicas, one memory', () => {
  let redis: RedisHandle;
  let stand: Replicas;
  beforeAll(async () => {
    redis = await startRedis();
    stand = await startReplicas({ replicas: 3, store: redis.url, flags: FLAGS, concurrency: 2 });
  });
  afterAll(async () => {
    await stand?.close();
    await redis?.stop();
  });

  it.each(['header', 'rid'] as const)(
    'conversations stay where their racing first turns went: key in %s',
    async (place) => {
      const before = await stand.placed();

      const replies = await spray({ ...PLAY, url: stand.url, conversations: 150, place, prefix: place });

      expectWhole(replies);
      const placed = (await stand.placed()).map((count, index) => count - (before[index] ?? 0));
      for (const count of placed) expect(count).toBeGreaterThan(replies.all.length / 6);
    },
  );

  it('replicas that are killed and started again lose no conversation and no request', async () => {
    let over = false;
    let kills = 0;
    const killer = (async () => {
      for (; !over || kills < 3; kills++) {
        const victim = stand.services[kills % stand.services.length]!;
        await victim.kill();
        await victim.start();
        await pause(300);
      }
    })();
    const playing = spray({
      ...PLAY,
      ...{ url: stand.url, conversations: 100, turns: 12, restMs: 50, place: 'header' as const, prefix: 'killed' },
    });
    const replies = await playing.finally(() => {
      over = true;
    });
    await killer;
    await stand.whole();

    expect(kills).toBeGreaterThanOrEqual(3);
    expectWhole(replies);
  });

  it('SIGTERM of one replica after the other loses no pin and no request', async () => {
    const load = await KeyLoad.start({ url: stand.url, perSecond: 60, apart: 2, place: 'header', prefix: 'rolled' });
    for (const service of stand.services.slice(0, 2)) {
      await service.stop();
      expect(service.exitCode).toBe(0);
      await service.start();
      await stand.whole();
    }
    const replies = await load.stop();

    expectWhole(replies);
  });
});
