import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  freePort,
  noEnvoy,
  noRedis,
  type RedisClusterHandle,
  type RedisHandle,
  type Replicas,
  type SlowProxy,
  slowProxy,
  startCluster,
  startRedis,
  startReplicas,
  startSentinel,
  until,
} from '../support/services.ts';
import { type Harm, type Outage, outage } from '../support/store-outage.ts';

/** No key moves because two requests of it run at once. */
const FLAGS = ['--pin-inflight-cap', '0', '--routing-key-order', 'header-first'];
/** `--pin-claim-timeout-ms` is 50, and a busy machine is late by some more; who waits for a store that is away waits for seconds. */
const LONGEST_ASK_MS = 250;

/** What holds whatever is wrong with the store: nobody is turned away, nobody waits beyond the bound, and all is well again. */
function expectSoft({ replies, safe, longestAskMs }: Outage): void {
  expect(replies.errors).toEqual([]);
  expect(replies.unpicked).toBe(0);
  expect(safe.splits).toEqual([]);
  expect(longestAskMs).toBeLessThanOrEqual(LONGEST_ASK_MS);
}

describe.skipIf(noEnvoy() || noRedis({ ownServer: true }))('the failure table: something is wrong with Redis', () => {
  let redis: RedisHandle;
  let way: SlowProxy;
  let admin: Redis;
  let stand: Replicas;

  beforeAll(async () => {
    redis = await startRedis();
    way = await slowProxy(Number(new URL(redis.url).port));
    stand = await startReplicas({ store: `redis://127.0.0.1:${way.port}`, flags: FLAGS });
    admin = new Redis(redis.url, { maxRetriesPerRequest: null });
    admin.on('error', () => undefined);
  });
  afterAll(async () => {
    admin?.disconnect();
    await stand?.close();
    await way?.close();
    await redis?.stop();
  });

  const config = async (...words: readonly string[]): Promise<void> => {
    await admin.call('CONFIG', 'SET', ...words);
  };

  interface Row {
    readonly name: string;
    readonly harm: () => Harm;
    /** Whether the store takes part in new pins meanwhile. */
    readonly asks: 'alone' | 'shared';
  }

  const rows: readonly Row[] = [
    {
      name: 'killed, its data lost',
      harm: () => ({ begin: () => redis.kill(), end: () => redis.restart(), state: 'down' }),
      asks: 'alone',
    },
    {
      name: 'stopped with its connections open',
      harm: () => ({ begin: () => redis.pause(), end: () => redis.resume(), state: 'down' }),
      asks: 'alone',
    },
    {
      name: 'slow',
      harm: () => ({ begin: () => slowDown(60), end: () => slowDown(0), state: 'slow' }),
      asks: 'alone',
    },
    {
      name: 'cut off',
      harm: () => ({ begin: () => way.refuse(), end: () => way.restore(), state: 'down' }),
      asks: 'alone',
    },
    {
      name: 'flapping',
      harm: () => ({ begin: flap, end: () => undefined, ms: 0 }),
      asks: 'alone',
    },
    {
      name: 'full',
      harm: () => ({ begin: () => config('maxmemory', '1'), end: () => config('maxmemory', '0'), state: 'down' }),
      asks: 'alone',
    },
    {
      name: 'read-only',
      harm: () => ({
        begin: async () => void (await admin.call('REPLICAOF', '127.0.0.1', String(await freePort()))),
        end: async () => void (await admin.call('REPLICAOF', 'NO', 'ONE')),
        state: 'down',
      }),
      asks: 'alone',
    },
    {
      name: 'with another password, then with the right one',
      harm: () => ({
        begin: async () => {
          await config('requirepass', 'other');
          await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
        },
        end: () => config('requirepass', ''),
        state: 'down',
      }),
      asks: 'alone',
    },
    {
      name: 'without its scripts',
      harm: () => ({ begin: async () => void (await admin.script('FLUSH')), end: () => undefined }),
      asks: 'shared',
    },
    {
      name: 'emptied',
      harm: () => ({ begin: async () => void (await admin.flushall()), end: () => undefined }),
      asks: 'shared',
    },
  ];

  function slowDown(ms: number): void {
    way.latencyMs = ms;
  }

  async function flap(): Promise<void> {
    for (let times = 0; times < 4; times++) {
      redis.pause();
      await pause(200);
      redis.resume();
      await pause(200);
    }
  }

  it.each(rows)('$name: no error, no long wait, and it heals alone', async ({ harm, asks }) => {
    const seen = await outage(stand, harm());

    expectSoft(seen);
    const { won = 0, followed = 0, late = 0, failed = 0, behind = 0 } = seen.asks;
    if (asks === 'alone') expect(late + failed + behind).toBeGreaterThan(0);
    // A busy machine may be late with some.
    else expect(won + followed).toBeGreaterThan(late + failed + behind);
  });

  it('away when the replicas start: they serve, and share when it comes', async () => {
    await redis.kill();
    await Promise.all(stand.services.map((service) => service.restart()));
    await stand.whole();

    const seen = await outage(stand, { begin: () => undefined, end: () => redis.restart(), state: 'down' });

    // Nobody shared anything before it came.
    expectSoft({ ...seen, safe: seen.safe.of('first', 'later') });
    await until(async () => (await admin.dbsize()) > 0, 'pins are in Redis');
  });
});

describe.skipIf(noEnvoy() || noRedis({ ownServer: true }))('the failure table: other servers take over', () => {
  const closers: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });

  async function standOn(store: { readonly url: string; stop(): Promise<void> }): Promise<Replicas> {
    closers.push(() => store.stop());
    const stand = await startReplicas({ store: store.url, flags: FLAGS });
    closers.push(() => stand.close());
    return stand;
  }

  it('a Sentinel makes the replica of a dead master the master', async () => {
    const sentinel = await startSentinel();
    const stand = await standOn(sentinel);

    const seen = await outage(stand, { begin: () => sentinel.master.kill(), end: () => undefined });

    expectSoft(seen);
    expect(seen.asks['behind']).toBeGreaterThan(0);
  });

  it('slots of a Cluster go from one node to another: ASK, then MOVED', async () => {
    const cluster = await startCluster();
    const stand = await standOn(cluster);
    const move = new SlotMove(cluster, 0, 1);

    expectSoft(await outage(stand, { begin: () => move.begin(), end: () => move.end() }));
  });
});

/** Slots of the first node that another one takes over: few enough for the client of the test to stay idle. */
const MOVED_SLOTS = Array.from({ length: 300 }, (_, slot) => slot);

class SlotMove {
  readonly #cluster: RedisClusterHandle;
  readonly #from: number;
  readonly #to: number;

  constructor(cluster: RedisClusterHandle, from: number, to: number) {
    this.#cluster = cluster;
    this.#from = from;
    this.#to = to;
  }

  /** From now on absent keys are asked for at the new node. */
  async begin(): Promise<void> {
    const { ids } = this.#cluster;
    await this.#all((slot) => this.#set(this.#to, slot, 'IMPORTING', ids[this.#from]));
    await this.#all((slot) => this.#set(this.#from, slot, 'MIGRATING', ids[this.#to]));
  }

  /** The keys go over, and the slots with them. */
  async end(): Promise<void> {
    const { clients, ids, nodes } = this.#cluster;
    const { port } = new URL(nodes[this.#to]!.url);
    await this.#all(async (slot) => {
      const keys = (await clients[this.#from]!.call('CLUSTER', 'GETKEYSINSLOT', slot, 1000)) as string[];
      if (keys.length > 0) {
        await clients[this.#from]!.call('MIGRATE', '127.0.0.1', port, '', '0', '5000', 'KEYS', ...keys);
      }
    });
    for (const node of [this.#to, this.#from]) await this.#all((slot) => this.#set(node, slot, 'NODE', ids[this.#to]));
  }

  async #all(act: (slot: number) => Promise<unknown>): Promise<void> {
    await Promise.all(MOVED_SLOTS.map(act));
  }

  #set(node: number, slot: number, state: string, id: string | undefined): Promise<unknown> {
    return this.#cluster.clients[node]!.call('CLUSTER', 'SETSLOT', slot, state, id ?? '');
  }
}
