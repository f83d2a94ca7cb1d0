import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Child, noRedis, type RedisHandle, type SlowProxy, slowProxy, startRedis, until } from '../support/services.ts';

const PROGRAM = fileURLToPath(new URL('../../bin/smg-envoy.js', import.meta.url));

describe.skipIf(noRedis({ ownServer: true }))('a store that is away', () => {
  let redis: RedisHandle;
  let proxy: SlowProxy;
  let url: string;
  beforeAll(async () => {
    redis = await startRedis({ args: ['--requirepass', 's3cret'] });
    proxy = await slowProxy(Number(new URL(redis.url).port));
    url = `redis://:s3cret@127.0.0.1:${proxy.port}`;
    await proxy.refuse();
  });
  afterAll(async () => {
    await proxy.close();
    await redis.stop();
  });

  it.each(['check', 'envoy-config'])('is nothing to %s, which connects nowhere', async (command) => {
    const child = new Child(process.execPath, [PROGRAM, command, '--pin-store', url]);

    expect(await child.ended()).toBe(0);
  });

  it('keeps serve from nothing; that it is away, and back, is told without its password', async () => {
    const ports = ['--grpc-port', '0', '--admin-port', '0'];
    const child = new Child(process.execPath, [PROGRAM, 'serve', '--pin-store', url, ...ports]);
    try {
      await until(() => child.output.includes('smg-envoy ready'), 'ready');
      await until(() => /WARN: the pin store: .*ECONNREFUSED/.test(child.output), 'the warning');
      await proxy.restore();
      await until(() => child.output.includes('pins are shared'), 'the store is found');

      expect(child.output.match(/WARN: the pin store/g)).toHaveLength(1);
      expect(child.output).not.toContain('s3cret');
    } finally {
      await child.stop();
    }
  });
});
