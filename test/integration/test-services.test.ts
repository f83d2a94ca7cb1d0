import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Sim, startSim } from '../../src/sim/start-sim.ts';
import { ask, freePort, http2Client, noRedis, rawHttp, startRedis } from '../support/services.ts';

describe.skipIf(noRedis({ ownServer: true }))('the Redis of the tests', () => {
  it('answers, loses its data with a restart and stops', async () => {
    const redis = await startRedis();
    const port = Number(new URL(redis.url).port);
    expect(await rawHttp(port, 'SET a 1\r\nQUIT\r\n')).toBe('+OK\r\n+OK\r\n');

    await redis.restart();

    expect(await rawHttp(port, 'GET a\r\nQUIT\r\n')).toBe('$-1\r\n+OK\r\n');
    await redis.stop();
    await expect(rawHttp(port, 'QUIT\r\n')).rejects.toThrow();
  });
});

describe('the HTTP clients of the tests', () => {
  let sim: Sim;
  beforeAll(async () => {
    sim = await startSim({ count: 1, digest: true });
  });
  afterAll(() => sim.close());

  it('a list of headers keeps order, case and repetition', async () => {
    await ask(sim.urls[0]!, { path: '/generate', headers: ['X-B', '1', 'x-a', '2', 'X-B', '3'], body: {} });
    const names = sim.workers[0]!.seen.last?.rawHeaders.filter((_, i) => i % 2 === 0);
    expect(names?.filter((name) => name.toLowerCase().startsWith('x-'))).toEqual(['X-B', 'x-a', 'X-B']);
  });

  it('a list of body pieces goes out chunked', async () => {
    const body = [Buffer.from('{"prompt":'), Buffer.from('"x"}')];
    const answer = await ask(sim.urls[0]!, { path: '/generate', body });
    expect(answer.headers['x-sim-body-bytes']).toBe('14');
    expect(sim.workers[0]!.seen.last?.rawHeaders.map((name) => name.toLowerCase())).toContain('transfer-encoding');
  });

  it('a port that is free refuses', async () => {
    const client = http2Client(`http://127.0.0.1:${await freePort()}`);
    await expect(client.ask()).rejects.toThrow();
  });
});
