import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { Cluster, Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PinBackendBench } from '../../src/pins/shared/pin-backend.suite.ts';
import { pinBackendSuite } from '../../src/pins/shared/pin-backend.suite.ts';
import type { PinChange, StoredPin } from '../../src/pins/shared/pin-backend.ts';
import { decodeChange, decodePin, encodeChange, encodePin } from '../../src/pins/shared/pin-record.ts';
import { isOfStore } from '../../src/pins/shared/store-clock.ts';
import { openRedis } from '../../src/redis/open-redis.ts';
import type { RedisLink } from '../../src/redis/redis-link.ts';
import { changesChannel, pinKey, RedisPinBackend } from '../../src/redis/redis-pin-backend.ts';
import { ModelPins } from '../support/model-pin-backend.ts';
import { noRedis, noRedisServer, type RedisHandle, startRedis } from '../support/redis.ts';
import { type RedisClusterHandle, startCluster } from '../support/redis-cluster.ts';
import { SILENT_LINK } from '../support/silent-link.ts';
import { until } from '../support/until.ts';

/** Pins over the link of the service, and what a test must see of the servers. */
interface Stand {
  readonly link: RedisLink;
  readonly backend: RedisPinBackend;
  /** Finds the node of each key. */
  readonly client: Redis | Cluster;
  readonly heard: readonly PinChange[];
  newName(): string;
  key(name: string): string;
  /** All that was published before has been heard then. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

/** @param servers each node alone; the first one is listened at */
async function stand(url: string, client: Redis | Cluster, servers: readonly Redis[]): Promise<Stand> {
  const prefix = `smg-envoy-test-${randomUUID()}`;
  const login = { username: null, passwordFile: null, caPath: null };
  const link = openRedis(url, {
    self: '00000000',
    prefix,
    ...login,
    claimTimeoutMs: () => 1000,
    observer: SILENT_LINK,
  });
  const listener = servers[0]!.duplicate();
  const heard: PinChange[] = [];
  let names = 0;
  listener.on('message', (_, message) => {
    const change = decodeChange(message);
    if (change !== null) heard.push(change);
  });
  await listener.subscribe(changesChannel(prefix));
  await until(() => link.state === 'up', 'the link is up');
  return {
    link,
    backend: new RedisPinBackend(link),
    client,
    heard,
    newName: () => `n${String(names++).padStart(21, '0')}`,
    key: (name) => pinKey(prefix, name),
    settle: async () => {
      // Messages of one node keep their order, those of two do not.
      const marks = servers.map(() => `mark-${randomUUID()}`);
      for (const [index, server] of servers.entries()) {
        const mark = { name: marks[index]!, candidates: [], version: 1 };
        await server.publish(changesChannel(prefix), encodeChange(mark));
      }
      await until(() => marks.every((mark) => heard.some(({ name }) => name === mark)), 'the marks on the channel');
    },
    close: async () => {
      listener.disconnect();
      await link.close();
      const left = await Promise.all(servers.map((server) => server.keys(`${prefix}:*`)));
      await Promise.all(left.flat().map((key) => client.del(key)));
    },
  };
}

function benchOf({ backend, client, heard, newName, key, settle }: Stand): PinBackendBench {
  return {
    backend,
    newName,
    published: async (name) => {
      await settle();
      return heard.filter((change) => change.name === name);
    },
    msLeft: async (name) => {
      const left = await client.pttl(key(name));
      return left === -2 ? null : left === -1 ? Number.POSITIVE_INFINITY : left;
    },
    expire: async (name) => {
      await client.pexpire(key(name), 1);
      await until(async () => (await client.exists(key(name))) === 0, 'the end of the key');
    },
    close: async () => {},
  };
}

/** Writes many pins at once while the servers forget their scripts again and again. */
async function writeWhileScriptsAreLost({ backend, newName }: Stand, servers: readonly Redis[]): Promise<void> {
  for (let round = 0; round < 10; round++) {
    const asked: Promise<unknown>[] = [];
    for (let i = 0; i < 60; i++) {
      if (i % 20 === 0) asked.push(...servers.map((server) => server.script('FLUSH')));
      const name = newName();
      asked.push(backend.put(name, ['a'], 0, 1000), backend.touch(name, 1000), backend.remove(name));
    }
    await Promise.all(asked);
  }
}

describe.skipIf(noRedis())('pins in a real Redis', () => {
  let redis: RedisHandle;
  let client: Redis;
  let pins: Stand;
  let backend: RedisPinBackend;
  let newName: () => string;
  beforeAll(async () => {
    redis = await startRedis();
    client = new Redis(redis.url);
    pins = await stand(redis.url, client, [client]);
    ({ backend, newName } = pins);
  });
  afterAll(async () => {
    await pins.close();
    client.disconnect();
    await redis.stop();
  });

  pinBackendSuite('RedisPinBackend', async () => benchOf(pins));

  describe('what others wrote under a key of ours', () => {
    it.each([
      ['a list', (key: string) => client.rpush(key, 'x')],
      ['a hash', (key: string) => client.hset(key, 'f', 'x')],
      ['another format', (key: string) => client.set(key, '25\na')],
      ['no version', (key: string) => client.set(key, '1x\na')],
    ])('is taken for absent: %s', async (_, write) => {
      const name = newName();
      await write(pins.key(name));

      expect(await backend.read(name)).toBeNull();
      expect(await backend.touch(name, 1000)).toBeNull();
      expect(await backend.put(name, ['b'], 0, 1000)).toMatchObject({ candidates: ['b'], won: true });
      expect(await backend.read(name)).toMatchObject({ candidates: ['b'] });
    });

    it('of a version that no store has given yet is overwritten, whatever is expected, and cannot be offered', async () => {
      const name = newName();
      await client.set(pins.key(name), '19007199254740991\nforged');

      expect(await backend.touch(name, 1000)).toBeNull();
      const written = await backend.put(name, ['a'], 9007199254740991, 1000);

      expect(written).toMatchObject({ candidates: ['a'], won: true });
      expect(isOfStore(written.version, Date.now())).toBe(true);
      await expect(backend.offer(name, ['forged'], 9007199254740991, 1000)).rejects.toThrow('ahead');
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
          await client.set(pins.key(name), value);

          const pin = decodePin(value);
          expect(await backend.touch(name, 0)).toEqual(pin !== null && isOfStore(pin.version, Date.now()) ? pin : null);
        }),
        { numRuns: 500 },
      );
    });
  });

  it('writes what the codec writes', async () => {
    const name = newName();

    const { version } = await backend.put(name, ['http://10.244.12.34:8000', 'b'], 0, 0);

    const value = await client.get(pins.key(name));
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
        const heardBefore = pins.heard.length;

        for (const { kind, key, ids: candidates, known: back } of steps) {
          const name = real[key]!;
          const ask = async (side: 'store' | 'model', store: RedisPinBackend | ModelPins): Promise<unknown> => {
            const past = versions[side][key]!;
            const version = back === -1 ? (past.at(-1) ?? 0) + 1e9 : back === 0 ? 0 : (past.at(-back) ?? 0);
            if (kind === 'put') return shape(await store.put(name, candidates, version, 60_000), past);
            if (kind === 'offer') return shape(await store.offer(name, candidates, Math.max(version, 1), 60_000), past);
            if (kind === 'remove') return store.remove(name);
            if (kind === 'lose')
              return store instanceof ModelPins ? Number(store.evict(name)) : client.del(pins.key(name));
            const pin = kind === 'touch' ? await store.touch(name, 60_000) : await store.read(name);
            return pin === null ? null : shape(pin, past);
          };
          expect(await ask('store', backend)).toEqual(await ask('model', model));
        }

        await pins.settle();
        const heard = pins.heard.slice(heardBefore).filter((change) => real.includes(change.name));
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
    await writeWhileScriptsAreLost(pins, [client]);
  });

  it('needs no rights beyond the keys and the channel of its prefix', async () => {
    const rules = [`~${pins.link.prefix}:*`, `&${pins.link.prefix}:*`];
    const commands = ['+eval', '+evalsha', '+get', '+set', '+pttl', '+pexpire', '+persist', '+time', '+publish'];
    await client.acl('SETUSER', 'pins', 'reset', 'on', '>secret', ...rules, ...commands, '+subscribe', '+ping');
    const login = { username: 'pins', passwordFile: null, caPath: null };
    const place = redis.url.replace('redis://', 'redis://pins:secret@');
    const options = { self: '00000001', prefix: pins.link.prefix, ...login, claimTimeoutMs: () => 1000 };
    const link = openRedis(place, { ...options, observer: SILENT_LINK });
    await until(() => link.state === 'up', 'the link is up');
    const limited = new RedisPinBackend(link);
    const name = newName();

    const { version } = await limited.put(name, ['a'], 0, 1000);
    await limited.touch(name, 2000);
    await limited.touch(name, 0);
    await limited.offer(name, ['a'], version + 1, 1000);
    await limited.remove(name);
    expect(await limited.read(name)).toMatchObject({ candidates: [] });

    await link.close();
    await client.acl('DELUSER', 'pins');
  });
});

describe.skipIf(noRedisServer())('pins in a Redis Cluster', () => {
  let cluster: RedisClusterHandle;
  let client: Cluster;
  let pins: Stand;
  beforeAll(async () => {
    cluster = await startCluster();
    client = new Cluster([...cluster.nodes.map(({ url }) => url)]);
    pins = await stand(cluster.url, client, cluster.clients);
  });
  afterAll(async () => {
    await pins.close();
    client.disconnect();
    await cluster.stop();
  });

  pinBackendSuite('RedisPinBackend on a Cluster', async () => benchOf(pins));

  it('goes on when all nodes forget their scripts', async () => {
    await writeWhileScriptsAreLost(pins, cluster.clients);
  });
});
