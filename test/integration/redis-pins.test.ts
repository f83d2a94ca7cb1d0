import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ModelPins } from '../../src/pins/shared/model-pin-backend.ts';
import type { PinBackendBench } from '../../src/pins/shared/pin-backend.suite.ts';
import { pinBackendSuite } from '../../src/pins/shared/pin-backend.suite.ts';
import type { PinChange, StoredPin } from '../../src/pins/shared/pin-backend.ts';
import { decodeChange, decodePin, encodeChange, encodePin } from '../../src/pins/shared/pin-record.ts';
import { changesChannel, pinKey, RedisPinBackend } from '../../src/redis/redis-pin-backend.ts';
import { noRedis, type RedisHandle, startRedis } from '../support/services.ts';
import { plainStoreClient } from '../support/store-client.ts';
import { until } from '../support/until.ts';

/** Hears all changes of a prefix. */
async function listen(url: string, prefix: string) {
  const client = new Redis(url);
  const heard: PinChange[] = [];
  client.on('message', (_, message) => {
    const change = decodeChange(message);
    if (change !== null) heard.push(change);
  });
  await client.subscribe(changesChannel(prefix));
  return {
    heard,
    /** All that was published before: what is published in between comes after it. */
    async settle(by: Redis): Promise<void> {
      const name = `mark-${randomUUID()}`;
      await by.publish(changesChannel(prefix), encodeChange({ name, candidates: [], version: 1 }));
      await until(() => heard.some((change) => change.name === name), 'a mark on the channel');
    },
    end: () => client.disconnect(),
  };
}

describe.skipIf(noRedis())('pins in a real Redis', () => {
  const prefix = `smg-envoy-test-${randomUUID()}`;
  let redis: RedisHandle;
  let client: Redis;
  let backend: RedisPinBackend;
  let listener: Awaited<ReturnType<typeof listen>>;
  let names = 0;
  const newName = (): string => `n${String(names++).padStart(21, '0')}`;
  beforeAll(async () => {
    redis = await startRedis();
    client = new Redis(redis.url);
    backend = new RedisPinBackend(plainStoreClient(client, prefix));
    listener = await listen(redis.url, prefix);
  });
  afterAll(async () => {
    const keys = await client.keys(`${prefix}:*`);
    if (keys.length > 0) await client.del(keys);
    listener.end();
    client.disconnect();
    await redis.stop();
  });

  pinBackendSuite(
    'RedisPinBackend',
    async (): Promise<PinBackendBench> => ({
      backend,
      newName,
      published: async (name) => {
        await listener.settle(client);
        return listener.heard.filter((change) => change.name === name);
      },
      msLeft: async (name) => {
        const left = await client.pttl(pinKey(prefix, name));
        return left === -2 ? null : left === -1 ? Number.POSITIVE_INFINITY : left;
      },
      expire: async (name) => {
        await client.pexpire(pinKey(prefix, name), 1);
        await until(async () => (await client.exists(pinKey(prefix, name))) === 0, 'the end of the key');
      },
      close: async () => {},
    }),
  );

  describe('what others wrote under a key of ours', () => {
    it.each([
      ['a list', (key: string) => client.rpush(key, 'x')],
      ['a hash', (key: string) => client.hset(key, 'f', 'x')],
      ['another format', (key: string) => client.set(key, '25\na')],
      ['no version', (key: string) => client.set(key, '1x\na')],
    ])('is taken for absent: %s', async (_, write) => {
      const name = newName();
      await write(pinKey(prefix, name));

      expect(await backend.read(name)).toBeNull();
      expect(await backend.touch(name, 1000)).toBeNull();
      expect(await backend.put(name, ['b'], 0, 1000)).toMatchObject({ candidates: ['b'], won: true });
      expect(await backend.read(name)).toMatchObject({ candidates: ['b'] });
    });

    it('is judged by the scripts as by the parser', async () => {
      const part = fc.constantFrom('0', '1', '7', '\n', 'a', ' ', '.', 'e3', '0x1', '9007199254740991', '\u0000', 'ä');
      const text = fc.oneof(
        fc.array(part, { maxLength: 8 }).map((parts) => `1${parts.join('')}`),
        fc.string(),
      );
      const name = newName();
      await fc.assert(
        fc.asyncProperty(text, async (value) => {
          await client.set(pinKey(prefix, name), value);

          expect(await backend.touch(name, 0)).toEqual(decodePin(value));
        }),
        { numRuns: 500 },
      );
    });
  });

  it('writes what the codec writes', async () => {
    const name = newName();

    const { version } = await backend.put(name, ['http://10.244.12.34:8000', 'b'], 0, 0);

    const value = await client.get(pinKey(prefix, name));
    expect(value).toBe(encodePin({ candidates: ['http://10.244.12.34:8000', 'b'], version }));
    expect(version).toBeGreaterThan(1.7e15);
  });

  it('does as the model does, whatever is asked', async () => {
    const keys = fc.integer({ min: 0, max: 2 });
    const ids = fc.uniqueArray(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 2 });
    /** How many versions of the key back, as both know them; beyond them: 0, or one that nobody gave. */
    const known = fc.constantFrom(0, 0, 1, 2, 3, -1);
    const step = fc.oneof(
      fc.record({ kind: fc.constant('put'), key: keys, ids, known }),
      fc.record({ kind: fc.constant('offer'), key: keys, ids, known }),
      fc.record({ kind: fc.constantFrom('touch', 'read', 'remove', 'lose'), key: keys, ids, known }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const told: PinChange[] = [];
        let now = 1_800_000_000_000;
        const model = new ModelPins(
          () => now++,
          (change) => told.push(change),
        );
        const real = [newName(), newName(), newName()];
        /** Versions of each key in the order in which they came up, by the store and by the model. */
        const versions = { store: real.map(() => [] as number[]), model: real.map(() => [] as number[]) };
        const heardBefore = listener.heard.length;

        for (const { kind, key, ids: candidates, known: back } of steps) {
          const name = real[key]!;
          const ask = async (side: 'store' | 'model', pins: RedisPinBackend | ModelPins): Promise<unknown> => {
            const past = versions[side][key]!;
            const version = back === -1 ? (past.at(-1) ?? 0) + 1e12 : back === 0 ? 0 : (past.at(-back) ?? 0);
            if (kind === 'put') return shape(await pins.put(name, candidates, version, 60_000), past);
            if (kind === 'offer') return shape(await pins.offer(name, candidates, Math.max(version, 1), 60_000), past);
            if (kind === 'remove') return pins.remove(name);
            if (kind === 'lose')
              return pins instanceof ModelPins ? Number(pins.evict(name)) : client.del(pinKey(prefix, name));
            const pin = kind === 'touch' ? await pins.touch(name, 60_000) : await pins.read(name);
            return pin === null ? null : shape(pin, past);
          };
          expect(await ask('store', backend)).toEqual(await ask('model', model));
        }

        await listener.settle(client);
        const heard = listener.heard.slice(heardBefore).filter((change) => real.includes(change.name));
        const shapes = (changes: readonly PinChange[], all: readonly number[][]) =>
          changes.map((change) => shape(change, all[real.indexOf(change.name)]!));
        expect(shapes(heard, versions.store)).toEqual(shapes(told, versions.model));
      }),
      { numRuns: 150 },
    );

    /** A pin with the rank of its version among those seen of its key, which are not the same on both sides. */
    function shape<T extends StoredPin>(pin: T, past: number[]): Omit<T, 'version'> & { rank: number } {
      const { version, ...rest } = pin;
      if (!past.includes(version)) {
        past.push(version);
        past.sort((a, b) => a - b);
      }
      return { ...rest, rank: past.indexOf(version) };
    }
  });

  it('goes on when the server forgets its scripts', async () => {
    for (const enableAutoPipelining of [false, true]) {
      const busy = new Redis(redis.url, { enableAutoPipelining });
      const pins = new RedisPinBackend(plainStoreClient(busy, prefix));
      const asked: Promise<unknown>[] = [];
      for (let i = 0; i < 400; i++) {
        if (i % 20 === 0) asked.push(client.script('FLUSH'));
        asked.push(pins.put(newName(), ['a'], 0, 1000), pins.touch('absent', 1000));
        if (i % 50 === 0) await Promise.all(asked);
      }

      await Promise.all(asked);

      busy.disconnect();
    }
  });
});
