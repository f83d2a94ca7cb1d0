import { Agent } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { freePort } from '../../test/support/ports.ts';
import { StubWorker } from '../../test/support/stub-worker.ts';
import { until } from '../../test/support/until.ts';
import { type HttpRequestOptions, httpRequest } from './http-request.ts';

let worker: StubWorker;
beforeEach(async () => {
  worker = await StubWorker.start();
});
afterEach(() => worker.dies());

const get = (options: Partial<HttpRequestOptions> = {}) =>
  httpRequest({
    ip: '127.0.0.1',
    port: worker.port,
    path: '/health',
    headers: { host: 'w' },
    timeoutMs: 5_000,
    maxBytes: 1_000,
    signal: new AbortController().signal,
    ...options,
  });

describe('httpRequest', () => {
  it('answers with status and body, and closes the connection', async () => {
    worker.health = (_, response) => response.writeHead(204).end();

    expect(await get()).toEqual({ kind: 'answer', status: 204, body: Buffer.alloc(0), complete: true });
    expect(worker.lastHeaders).toMatchObject({ host: 'w', connection: 'close' });
    await until(() => worker.connections === 0, 'connection closed');
  });

  it('takes a 204 for an answer whatever bytes follow it (RFC 9110 15.3.5)', async () => {
    worker.health = (request) => request.socket.end('HTTP/1.1 204 X\r\ncontent-length: 2\r\n\r\n{}');

    expect(await get()).toEqual({ kind: 'answer', status: 204, body: Buffer.alloc(0), complete: true });
  });

  it('follows no redirect', async () => {
    worker.health = (_, response) => response.writeHead(302, { location: '/elsewhere' }).end();

    expect(await get()).toMatchObject({ kind: 'answer', status: 302 });
    expect(worker.asked).toEqual(['/health']);
  });

  it('reads no more than its bound', async () => {
    worker.health = (_, response) => response.writeHead(200).write(Buffer.alloc(1_001));

    expect(await get()).toMatchObject({ kind: 'answer', status: 200, complete: false });
    await until(() => worker.connections === 0, 'connection closed');
  });

  it('gives up in time: no answer, and an answer without an end', async () => {
    worker.health = 'hang';
    expect(await get({ timeoutMs: 30 })).toEqual({ kind: 'timeout' });
    worker.health = (_, response) => response.writeHead(200).write('x');
    expect(await get({ timeoutMs: 30 })).toEqual({ kind: 'timeout' });

    await until(() => worker.connections === 0, 'connections closed');
  });

  it('tells a refused, a reset and a cut connection, and one that does not speak HTTP', async () => {
    worker.health = 'reset';
    expect(await get()).toEqual({ kind: 'failed', reason: 'ECONNRESET' });
    worker.health = (request, response) => {
      response.writeHead(200, { 'content-length': '10' }).write('x', () => request.socket.destroy());
    };
    expect(await get()).toMatchObject({ kind: 'failed' });
    worker.health = (request) => void request.socket.end('nonsense\r\n\r\n');
    expect(await get()).toMatchObject({ kind: 'failed' });

    const port = await freePort();
    expect(await get({ port })).toEqual({ kind: 'failed', reason: 'ECONNREFUSED' });
  });

  it('ends with its signal, before and while it asks', async () => {
    worker.health = 'hang';
    expect(await get({ signal: AbortSignal.abort() })).toEqual({ kind: 'failed', reason: 'aborted' });

    const controller = new AbortController();
    const result = get({ signal: controller.signal });
    await until(() => worker.asked.length === 1, 'asked');
    controller.abort();

    expect(await result).toEqual({ kind: 'failed', reason: 'aborted' });
    await until(() => worker.connections === 0, 'connection closed');
  });

  it('fails on what no request can hold', async () => {
    expect(await get({ path: '/a b' })).toMatchObject({ kind: 'failed' });
  });

  describe('with an agent', () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    afterEach(() => agent.destroy());

    it('asks again on the same connection', async () => {
      worker.health = (request, response) => response.end(String(request.socket.remotePort));

      const answers = [await get({ agent }), await get({ agent }), await get({ agent })];

      const ports = answers.map((answer) => (answer.kind === 'answer' ? answer.body.toString() : answer));
      expect(new Set(ports).size).toBe(1);
      expect(worker.connections).toBe(1);
    });

    it('asks once more when the worker gave the connection up in between', async () => {
      let connections = 0;
      worker.health = (request, response) => {
        connections += 1;
        if (connections === 2) request.socket.resetAndDestroy();
        else response.end('{}');
      };
      await get({ agent });

      expect(await get({ agent })).toMatchObject({ kind: 'answer', status: 200 });
      expect(worker.asked).toHaveLength(3);
    });

    it('asks a worker that resets each connection no more than twice', async () => {
      await get({ agent });
      worker.health = 'reset';

      expect(await get({ agent })).toEqual({ kind: 'failed', reason: 'ECONNRESET' });
      expect(worker.asked).toHaveLength(3);
    });

    it('closes the connection of an answer that it did not read to its end', async () => {
      worker.health = (_, response) => response.writeHead(200).write(Buffer.alloc(1_001));

      expect(await get({ agent })).toMatchObject({ complete: false });
      await until(() => worker.connections === 0, 'connection closed');
    });
  });
});
