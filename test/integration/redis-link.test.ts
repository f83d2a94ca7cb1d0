import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { RedisPinBackend } from '../../src/redis/redis-pin-backend.ts';
import {
  noRedisServer,
  type RedisHandle,
  type SlowProxy,
  slowProxy,
  startRedis,
  startTlsRedis,
  until,
} from '../support/services.ts';
import { openLinks, PREFIX, untilState } from '../support/test-redis-link.ts';

const { open, closeAll } = openLinks();
afterEach(closeAll);

const GET = "return redis.call('GET', KEYS[1])";

function portOf(url: string): number {
  return Number(new URL(url).port);
}

describe.skipIf(noRedisServer())('the link to a Redis', () => {
  let redis: RedisHandle;
  let proxy: SlowProxy;
  let admin: Redis;
  let url: string;
  beforeAll(async () => {
    redis = await startRedis();
    proxy = await slowProxy(portOf(redis.url));
    url = `redis://127.0.0.1:${proxy.port}`;
    admin = new Redis(redis.url, { retryStrategy: () => 20 });
    admin.on('error', () => {});
  });
  afterEach(async () => {
    proxy.latencyMs = 0;
    await proxy.restore();
  });
  afterAll(async () => {
    admin.disconnect();
    await proxy.close();
    await redis.stop();
  });

  it('runs commands and scripts, known to the server or not, and passes messages on', async () => {
    const link = open(url);
    await untilState(link, 'up');
    const heard: string[] = [];
    link.subscribe(`${PREFIX}:t`, (message) => heard.push(message));
    const read = link.script(GET);

    await link.run('set', [`${PREFIX}:k`, 'v', 'PX', 5000]);

    expect(await read([`${PREFIX}:k`], [])).toBe('v');
    await admin.script('FLUSH');
    expect(await Promise.all([read([`${PREFIX}:k`], []), read([`${PREFIX}:none`], [])])).toEqual(['v', null]);
    await until(() => link.publish(`${PREFIX}:t`, 'hello') && heard.includes('hello'), 'the message came');
    expect(link.failures).toEqual([]);
  });

  it('is down while the store is not there, keeps nothing for later, and finds it when it comes', async () => {
    await proxy.refuse();
    const link = open(url);
    await until(() => link.log.includes('trouble:connection'), 'the trouble is told');

    await expect(link.run('set', ['k', 'v'])).rejects.toMatchObject({ reason: 'connection' });
    await expect(link.script(GET)(['k'], [])).rejects.toMatchObject({ reason: 'connection' });
    expect(link.publish('c', 'm')).toBe(false);
    await proxy.restore();
    await untilState(link, 'up');

    await until(() => link.log.includes('gap'), 'both ways stand');
    expect([...link.log].sort()).toEqual(['connected', 'down>up', 'gap', 'subscribed:true', 'trouble:connection']);
    expect(await admin.exists('k')).toBe(0);
  });

  it('is down at once when the connection is cut, and rejects what was under way', async () => {
    const link = open(url);
    await untilState(link, 'up');
    proxy.blackHole();
    const underWay = link.run('get', ['k']);

    proxy.cut();

    await expect(underWay).rejects.toMatchObject({ reason: 'connection' });
    expect(link.state).toBe('down');
    await proxy.restore();
    await untilState(link, 'up');
  });

  it('follows a store that flaps, with a pause between its attempts', async () => {
    const link = open(url);
    for (let i = 0; i < 4; i++) {
      await untilState(link, 'up');
      proxy.cut();
      await untilState(link, 'down');
    }
    await untilState(link, 'up');

    await until(() => link.log.at(-1) === 'gap', 'the gap is told');
    expect(link.log.filter((line) => line === 'connected').length).toBe(5);
  });

  it('opens after some late answers in a row, and a probe closes it', async () => {
    const link = open(url);
    await untilState(link, 'up');
    await until(() => {
      link.answered(51);
      return link.state === 'down';
    }, 'the breaker is open');

    expect(link.log.slice(-2)).toEqual(['trouble:timeout', 'up>down']);
    await untilState(link, 'up');
  });

  it('is slow when answers take longer than the bound, and well with a longer bound', async () => {
    proxy.latencyMs = 40;
    const link = open(url);

    await untilState(link, 'slow');
    expect(await link.run('set', [`${PREFIX}:behind`, 'v'])).toBe('OK');
    link.bound = 500;
    await untilState(link, 'up');
  });

  it('gives up a store that holds its connections and says nothing, and is up within a moment when it goes on', async () => {
    const link = open(url);
    await untilState(link, 'up');
    redis.pause();
    try {
      await untilState(link, 'down');
      await expect(link.run('get', ['k'])).rejects.toMatchObject({
        reason: expect.stringMatching(/timeout|connection/),
      });
      // So long that the connections are given up, and new ones wait for an answer.
      await until(() => link.log.includes('subscribed:false'), 'the subscription is given up');
    } finally {
      redis.resume();
    }
    const since = performance.now();
    await untilState(link, 'up');

    expect(performance.now() - since).toBeLessThan(1000);
    await until(() => link.log.filter((line) => line === 'gap').length === 2, 'the gap is told');
  });

  it('comes back each time from a store that is killed and started, with nothing of what it held', async () => {
    const link = open(redis.url);
    await untilState(link, 'up');
    for (let i = 0; i < 2; i++) {
      await redis.kill();
      await untilState(link, 'down');
      await redis.restart();
      await untilState(link, 'up');
      await until(() => link.log.filter((line) => line === 'gap').length === i + 2, 'a gap each time');
    }
    expect(link.log.filter((line) => line === 'connected').length).toBeGreaterThanOrEqual(3);
  });

  it('tells a gap when only the subscription was lost, and hears again', async () => {
    const link = open(url);
    const heard: string[] = [];
    link.subscribe(`${PREFIX}:u`, (message) => heard.push(message));
    await untilState(link, 'up');
    await until(() => link.log.includes('gap'), 'the first gap');

    await admin.call('client', 'kill', 'type', 'pubsub');

    await until(() => link.log.filter((line) => line === 'gap').length === 2, 'a second gap');
    await until(() => link.publish(`${PREFIX}:u`, 'again') && heard.length > 0, 'the message came');
    expect(link.state).toBe('up');
  });

  it('tells a gap when the data was flushed under it, once', async () => {
    const link = open(url);
    await untilState(link, 'up');
    await until(() => link.log.includes('gap'), 'the first gap');

    await admin.flushall();

    await until(() => link.log.filter((line) => line === 'gap').length === 2, 'a second gap');
    expect(link.log).not.toContain('up>down');
  });

  it('hears changes of pins, and nothing that is none', async () => {
    const link = open(url);
    const heard: unknown[] = [];
    link.onChange((change) => heard.push(change));
    await until(() => link.log.includes('gap'), 'the subscription stands');

    for (const message of ['nonsense', '1name\n7\nhttp://a']) await admin.publish(`${PREFIX}:changes`, message);

    await until(() => heard.length > 0, 'the change came');
    expect(heard).toEqual([{ name: 'name', candidates: ['http://a'], version: 7 }]);
  });

  it('is down while a full store takes no writes, and says so', async () => {
    const link = open(url);
    await untilState(link, 'up');

    await admin.config('SET', 'maxmemory', '1');
    await untilState(link, 'down');
    const said = [...link.log];
    await admin.config('SET', 'maxmemory', '0');
    await untilState(link, 'up');

    expect(said).toContain('trouble:full');
    expect(link.failures).toContain('full');
  });

  it('is down where scripts cannot be run, and says so', async () => {
    const without = await startRedis({ args: ['--rename-command', 'EVALSHA', ''] });
    try {
      const link = open(without.url);
      await until(() => link.log.includes('trouble:script'), `the reason is told: ${link.messages.join()}`);

      expect(link.state).toBe('down');
    } finally {
      await without.stop();
    }
  });

  it('is down at a replica, which takes no writes, until it is a master', async () => {
    const link = open(url);
    await untilState(link, 'up');
    const master = await startRedis();
    try {
      await admin.replicaof('127.0.0.1', portOf(master.url));
      await untilState(link, 'down');
      await until(() => link.failures.filter((reason) => reason === 'readonly').length >= 4, 'several attempts');
      expect(link.log.filter((line) => line.startsWith('trouble'))).toEqual(['trouble:readonly']);
      await admin.replicaof('NO', 'ONE');
      await untilState(link, 'up');
    } finally {
      await master.stop();
    }
  });

  it('leaves neither sockets nor timers when it is closed, wherever it stood', async () => {
    const before = process.getActiveResourcesInfo().length;
    const links = [open(url), open(redis.url), open('redis://127.0.0.1:1')];
    await untilState(links[0]!, 'up');
    links.push(open(url));
    proxy.blackHole();
    links.push(open(url));

    await Promise.all(links.map((link) => link.close()));
    await proxy.restore();
    proxy.cut();

    await until(() => process.getActiveResourcesInfo().length <= before, 'as many resources as before', 3000);
    await until(() => proxy.connections === 0, 'no connection is left');
    await expect(links[0]!.run('get', ['k'])).rejects.toMatchObject({ reason: 'connection' });
  });
});

describe.skipIf(noRedisServer())('a Redis with a login', () => {
  const folder = mkdtempSync(join(tmpdir(), 'smg-envoy-login-'));
  const file = join(folder, 'password');
  const acl = ['on', '>s3cret', `~${PREFIX}:*`, `&${PREFIX}:*`, '-@all'];
  const commands = 'set get eval evalsha publish subscribe unsubscribe ping client|setname'.split(' ');
  const inScripts = 'pexpire persist pttl time'.split(' ');
  let redis: RedisHandle;
  let admin: Redis;
  const setUser = (...rules: readonly string[]) => admin.call('acl', 'setuser', 'me', ...rules);
  beforeAll(async () => {
    redis = await startRedis({ args: ['--requirepass', 'root'] });
    admin = new Redis(redis.url, { password: 'root' });
    await setUser(...acl, ...[...commands, ...inScripts].map((name) => `+${name}`));
  });
  afterAll(async () => {
    admin.disconnect();
    rmSync(folder, { recursive: true, force: true });
    await redis.stop();
  });

  it('is reached with user and password of the URL, and few rights', async () => {
    const link = open(redis.url.replace('//', '//me:s3cret@'));
    await untilState(link, 'up');

    const pins = new RedisPinBackend(link);
    const { version } = await pins.put('name', ['http://a'], 0, 1000);
    expect(await pins.touch('name', 1000)).toMatchObject({ version });
    expect(await pins.offer('name', ['http://a'], version, 1000)).toMatchObject({ version });
    expect(await pins.remove('name')).toBe(true);
    await until(() => link.log.includes('gap'), 'subscribed');
    expect(link.failures).toEqual([]);
  });

  it('is tried with the password in the file until that is right, which is told once and without it', async () => {
    writeFileSync(file, 'wr0ng\n');
    const link = open(redis.url.replace('//', '//x:y@'), { username: 'me', passwordFile: file });
    await until(() => link.failures.filter((reason) => reason === 'auth').length >= 4, 'several attempts');
    expect(link.log).toEqual(['trouble:auth']);

    writeFileSync(file, 's3cret\n');
    await untilState(link, 'up');

    expect(link.messages.join()).not.toMatch(/wr0ng|s3cret/);
  });

  it.each([
    ['evalsha'],
    // Only the scripts call it.
    ['pttl'],
    ['publish'],
  ])('is down for a user without %s, which is told once, until it has the right', async (command) => {
    await setUser(`-${command}`);
    const link = open(redis.url.replace('//', '//me:s3cret@'));
    await until(() => link.failures.filter((reason) => reason === 'auth').length >= 4, 'several attempts');
    const said = link.log.filter((line) => line !== 'connected' && !line.startsWith('subscribed'));
    await setUser(`+${command}`);

    await untilState(link, 'up');
    expect(said).toEqual(['trouble:auth']);
  });

  it('is down when a right is taken away while pins are put, with the reason', async () => {
    const link = open(redis.url.replace('//', '//me:s3cret@'));
    await untilState(link, 'up');
    const pins = new RedisPinBackend(link);
    await setUser('-evalsha');
    try {
      await until(async () => {
        await pins.put('name', ['http://a'], 0, 1000).catch(() => link.failed());
        return link.state === 'down';
      }, 'the breaker is open');
      await until(() => link.failures.filter((reason) => reason === 'auth').length >= 4, 'several attempts');
      expect(link.log.filter((line) => /^trouble|>/.test(line)).slice(1)).toEqual(['trouble:auth', 'up>down']);
    } finally {
      await setUser('+evalsha');
    }
    await untilState(link, 'up');
  });

  it('tells that changes are not heard where the right to subscribe is missing, and hears them when it is given', async () => {
    await setUser('-subscribe');
    const link = open(redis.url.replace('//', '//me:s3cret@'));
    link.onChange(() => {});
    try {
      await untilState(link, 'up');
      await until(() => link.log.includes('subscribed:false'), 'it is told');
      expect(link.subscribed).toBe(false);
      expect(link.failures).toContain('auth');
    } finally {
      await setUser('+subscribe');
    }
    await until(() => link.subscribed && link.log.includes('gap'), 'changes are heard, and all is compared');
  });

  it('is down without any login', async () => {
    const link = open(redis.url);
    await until(() => link.log.includes('trouble:auth'), 'the reason is told');

    expect(link.state).toBe('down');
  });
});

describe.skipIf(noRedisServer())('a Redis with TLS', () => {
  let redis: Awaited<ReturnType<typeof startTlsRedis>>;
  beforeAll(async () => {
    redis = await startTlsRedis();
  });
  afterAll(() => redis.stop());

  it('is reached by who trusts its certificate', async () => {
    const link = open(redis.url, { caPath: redis.caPath });

    await untilState(link, 'up');
    await until(() => link.log.includes('gap'), 'subscribed');
  });

  it.each([
    ['another one', () => redis.otherCaPath],
    ['those of the system', () => null],
  ])('is not by who trusts %s', async (_, caPath) => {
    const link = open(redis.url, { caPath: caPath() });
    await until(() => link.log.includes('trouble:tls'), `the reason is told: ${link.messages.join()}`);

    expect(link.state).toBe('down');
  });
});
