import { createServer } from 'node:net';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { pinKey, RedisPinBackend } from '../../src/redis/redis-pin-backend.ts';
import { noRedisServer, startCluster, startSentinel, until } from '../support/services.ts';
import { openLinks, PREFIX, untilState } from '../support/test-redis-link.ts';

const { open, closeAll } = openLinks();
afterEach(closeAll);

const GET = "return redis.call('GET', KEYS[1])";

function portOf(url: string): number {
  return Number(new URL(url).port);
}

describe.skipIf(noRedisServer())('Sentinels', () => {
  it('tell the master, and after its end the next one', async () => {
    const sentinel = await startSentinel();
    try {
      const link = open(sentinel.url);
      await untilState(link, 'up');
      await link.run('set', [`${PREFIX}:k`, 'v']);

      await sentinel.master.kill();
      await untilState(link, 'down');
      await untilState(link, 'up');
      await until(() => link.log.filter((line) => line === 'gap').length === 2, 'the gap is told');

      await link.run('set', [`${PREFIX}:k`, 'w']);
      const replica = new Redis(sentinel.replica.url);
      expect(await replica.get(`${PREFIX}:k`)).toBe('w');
      replica.disconnect();
    } finally {
      await closeAll();
      await sentinel.stop();
    }
  });

  it('with a login of their own get that of the servers', async () => {
    const sentinel = await startSentinel({ password: 's3cret' });
    try {
      const link = open(sentinel.url.replace('//', '//:s3cret@'));
      await untilState(link, 'up');
      await until(() => link.log.includes('gap'), 'subscribed');
    } finally {
      await closeAll();
      await sentinel.stop();
    }
  });

  it('that do not answer leave it down', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const link = open(`redis+sentinel://127.0.0.1:1,127.0.0.1:${port}/main`);

    await until(() => link.failures.length > 0, 'an attempt failed');
    expect(link.state).toBe('down');
    await link.close();
    server.close();
  });
});

describe.skipIf(noRedisServer())('a Cluster', () => {
  let cluster: Awaited<ReturnType<typeof startCluster>>;
  beforeAll(async () => {
    cluster = await startCluster();
  });
  afterAll(() => cluster.stop());

  it('is asked at the node of each key, and hears what is published at any', async () => {
    const link = open(cluster.url);
    await untilState(link, 'up');
    const keys = Array.from({ length: 30 }, (_, i) => `${PREFIX}:k${i}`);
    const read = link.script(GET);
    await Promise.all(keys.map((key) => link.run('set', [key, key])));

    expect(await Promise.all(keys.map((key) => read([key], [])))).toEqual(keys);
    const heard: string[] = [];
    link.subscribe(`${PREFIX}:t`, (message) => heard.push(message));
    await until(() => link.log.includes('gap'), 'the subscription stands');
    await until(async () => {
      for (const [index, client] of cluster.clients.entries()) await client.publish(`${PREFIX}:t`, String(index));
      return new Set(heard).size === 3;
    }, 'messages of all nodes');
    expect(link.failures).toEqual([]);
  });

  it('is followed while a slot moves, and after it has', async () => {
    const link = open(cluster.url);
    await untilState(link, 'up');
    const key = `${PREFIX}:moving`;
    const read = link.script(GET);
    await link.run('set', [key, '1']);
    const slot = (await cluster.clients[0]!.cluster('KEYSLOT', key)) as number;
    const from = await cluster.owner(slot);
    const to = (from + 1) % 3;
    const [source, target] = [cluster.clients[from]!, cluster.clients[to]!];
    await target.call('cluster', 'setslot', slot, 'importing', cluster.ids[from]!);
    await source.call('cluster', 'setslot', slot, 'migrating', cluster.ids[to]!);
    await source.call('migrate', '127.0.0.1', portOf(cluster.nodes[to]!.url), key, 0, 1000);

    // ASK
    expect(await read([key], [])).toBe('1');
    expect(await link.run('set', [key, '2'])).toBe('OK');

    for (const client of [target, source]) await client.call('cluster', 'setslot', slot, 'node', cluster.ids[to]!);
    // MOVED
    expect(await read([key], [])).toBe('2');
    expect(await link.run('get', [key])).toBe('2');
    expect(link.failures).toEqual([]);
  });

  it('tells a gap when one of its nodes was started anew', async () => {
    const link = open(cluster.url);
    await untilState(link, 'up');
    await until(() => link.log.includes('gap'), 'the first gap');
    const keys = Array.from({ length: 30 }, (_, i) => `${PREFIX}:k${i}`);
    const useAll = () => Promise.allSettled(keys.map((key) => link.run('get', [key])));
    await useAll();

    await cluster.nodes[1]!.restart();

    await until(async () => {
      await useAll();
      return link.log.filter((line) => line === 'gap').length === 2;
    }, 'a second gap');
  });

  it('passes all messages on while a master stands still that does not serve the epoch', async () => {
    const [from, to] = [open(cluster.url), open(cluster.url)];
    const heard = new Set<string>();
    to.subscribe(`${PREFIX}:t`, (message) => heard.add(message));
    await untilState(from, 'up');
    await until(() => to.subscribed && from.publish(`${PREFIX}:t`, 'first') && heard.has('first'), 'it hears');
    for (const client of cluster.clients) await client.config('SET', 'cluster-require-full-coverage', 'no');
    const slot = (await cluster.clients[0]!.cluster('KEYSLOT', `${PREFIX}:epoch`)) as number;
    const stopped = ((await cluster.owner(slot)) + 1) % 3;
    cluster.nodes[stopped]!.pause();
    try {
      // Whose subscription stood there finds another node.
      await until(() => from.publish(`${PREFIX}:t`, 'again') && heard.has('again'), 'it hears again', 30_000);

      for (let i = 0; i < 60; i++) expect(from.publish(`${PREFIX}:t`, `m${i}`)).toBe(true);
      await until(() => heard.size === 62, `all have come, not ${heard.size}`);
    } finally {
      cluster.nodes[stopped]!.resume();
      for (const client of cluster.clients) await client.config('SET', 'cluster-require-full-coverage', 'yes');
    }
  });

  it.each([
    ['stands still', 'pause', 'resume'],
    ['is gone', 'kill', 'restart'],
  ] as const)('serves what it can while a master %s, and is tried ever more seldom', async (_, end, begin) => {
    const configure = (full: string) =>
      Promise.all(cluster.clients.map((client) => client.config('SET', 'cluster-require-full-coverage', full)));
    const ownerOf = async (key: string) => cluster.owner((await cluster.clients[0]!.cluster('KEYSLOT', key)) as number);
    const link = open(cluster.url);
    const pins = new RedisPinBackend(link);
    await untilState(link, 'up');
    await configure('no');
    const lost = ((await ownerOf(`${PREFIX}:epoch`)) + 1) % 3;
    const names = await Promise.all(
      Array.from({ length: 30 }, async (_, i) => ({
        name: `n${i}`,
        lost: (await ownerOf(pinKey(PREFIX, `n${i}`))) === lost,
      })),
    );
    const openings = () => link.log.filter((line) => line === 'up>down').length;
    /** As pins do: an answer that does not come within the bound is one that failed. */
    const put = async (of: boolean): Promise<boolean> => {
      const { name } = names.find((each) => each.lost === of)!;
      const late = new Promise<never>((_, reject) => setTimeout(reject, 50));
      try {
        await Promise.race([pins.put(name, ['http://a'], 0, 5000), late]);
        link.answered(1);
        return true;
      } catch {
        link.failed();
        return false;
      }
    };
    await cluster.nodes[lost]![end]();
    try {
      const since = performance.now();
      const served: boolean[] = [];
      while (openings() < 4) {
        await untilState(link, 'up');
        served.push(await put(false));
        while (link.state === 'up') await put(true);
      }
      // Only where the subscription was at the lost one.
      const count = (line: string) => link.log.filter((each) => each === line).length;
      expect(count('gap')).toBeLessThanOrEqual(count('subscribed:true'));
      expect(served).toContain(true);
      // 100, 200 and 400 ms between them.
      expect(performance.now() - since).toBeGreaterThan(700);
    } finally {
      await cluster.nodes[lost]![begin]();
      await configure('yes');
    }
    await untilState(link, 'up');
  });

  it('is down when it has lost slots, and up when they are back', async () => {
    const link = open(cluster.url);
    await untilState(link, 'up');

    await Promise.all(cluster.nodes.map((node) => node.kill()));
    await untilState(link, 'down');
    await Promise.all(cluster.nodes.map((node) => node.restart()));

    await untilState(link, 'up');
  });
});
