import { createServer, type Server } from 'node:http';
import { createServer as createHttp2Server, createSecureServer } from 'node:http2';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { StubWorker } from '../../test/support/stub-worker.ts';
import { until } from '../../test/support/until.ts';
import { selfSigned } from '../sim/certificate.ts';
import { DEFAULT_UPSTREAM } from '../workers/upstream.ts';
import { type PrefillCall, PrefillClient } from './prefill-client.ts';

let worker: StubWorker;
let client: PrefillClient;

beforeEach(async () => {
  worker = await StubWorker.start();
  client = new PrefillClient({ connectTimeoutMs: 1000, upstream: DEFAULT_UPSTREAM });
});

afterEach(async () => {
  await client.close();
  await worker.dies();
});

const call = (parts: Partial<PrefillCall> = {}): PrefillCall => ({
  origin: worker.url,
  path: '/v1/chat/completions?x=1',
  headers: { host: 'prefill.local:8000', 'content-type': 'application/json' },
  body: Buffer.from('{"prompt":"ü"}'),
  timeoutMs: 5000,
  wantsAnswer: true,
  ...parts,
});

describe('a call to a prefill worker', () => {
  it('brings the answer, the worker having got body and headers as they were', async () => {
    let body = '';
    worker.pages = {
      '/v1/chat/completions?x=1': (request, response) => {
        request.on('data', (chunk) => {
          body += chunk;
        });
        request.on('end', () => response.writeHead(201).end('{"a":1}'));
      },
    };
    let sent = 0;

    const answer = await client.send(call(), () => sent++).answer;

    expect(answer).toEqual({ kind: 'answer', status: 201, body: Buffer.from('{"a":1}'), complete: true });
    expect(body).toBe('{"prompt":"ü"}');
    expect(worker.lastHeaders).toMatchObject({ host: 'prefill.local:8000', 'content-length': '15' });
    expect(sent).toBe(1);
  });

  it('keeps its connections for the next ones', async () => {
    worker.pages = { '/v1/chat/completions?x=1': 200 };
    for (let i = 0; i < 10; i++) await client.send(call(), () => {}).answer;
    // The next call may come before undici takes note of the end of the last one.
    expect(worker.connections).toBeLessThanOrEqual(2);
  });

  it('is sent before it is answered', async () => {
    worker.pages = { '/v1/chat/completions?x=1': 'hang' };
    const running = await new Promise<{ cancel(): void; answer: Promise<unknown> }>((resolve) => {
      const begun = client.send(call(), () => resolve(begun));
    });
    running.cancel();
    expect(await running.answer).toEqual({ kind: 'cancelled' });
  });

  it('closes its connection when it is cancelled, so that the engine stops', async () => {
    worker.pages = { '/v1/chat/completions?x=1': 'hang' };
    const running = client.send(call(), () => {});
    await until(() => worker.asked.length === 1, 'the worker was asked');
    running.cancel();
    expect(await running.answer).toEqual({ kind: 'cancelled' });
    await until(() => worker.connections === 0, 'the connection is closed');
    running.cancel();
  });

  it('2,000 that are cancelled in any phase leave no connection and no timer behind', async () => {
    worker.pages = { '/v1/chat/completions?x=1': 'hang' };
    const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = timers();
    for (let batch = 0; batch < 20; batch++) {
      const running = Array.from({ length: 100 }, () => client.send(call(), () => {}));
      for (const [i, each] of running.entries()) {
        if (i % 3 === 0) each.cancel();
      }
      if (batch % 2 === 0) await until(() => worker.connections > 0, 'some are connected');
      for (const each of running) each.cancel();
      for (const each of running) expect(await each.answer).toEqual({ kind: 'cancelled' });
    }
    await until(() => worker.connections === 0, 'every connection is closed');
    // undici's own clock may tick for another second.
    expect(timers()).toBeLessThanOrEqual(before + 1);
  });

  it('is idle when everything that runs is over, and ends nothing for that', async () => {
    let finish = (): void => {};
    worker.pages = {
      '/v1/chat/completions?x=1': (_, response) => {
        finish = () => void response.end('{}');
      },
    };
    const running = client.send(call(), () => {});
    let idle = false;
    const waiting = client.idle().then(() => {
      idle = true;
    });
    await until(() => worker.asked.length === 1, 'the worker was asked');
    expect(idle).toBe(false);
    finish();
    await waiting;
    expect((await running.answer).kind).toBe('answer');
  });

  it('ends at its deadline', async () => {
    worker.pages = { '/v1/chat/completions?x=1': 'hang' };
    expect(await client.send(call({ timeoutMs: 50 }), () => {}).answer).toEqual({ kind: 'timeout' });
    await until(() => worker.connections === 0, 'the connection is closed');
  });

  it('fails where nobody listens, unsent', async () => {
    const { port } = worker;
    await worker.dies();
    let sent = 0;
    const running = client.send(call({ origin: `http://127.0.0.1:${port}` }), () => sent++);
    expect(await running.answer).toEqual({ kind: 'failed', reason: 'ECONNREFUSED' });
    expect(sent).toBe(0);
  });

  it('fails when the worker breaks the connection, also the second time', async () => {
    worker.pages = { '/v1/chat/completions?x=1': 'reset' };
    let sent = 0;
    expect((await client.send(call(), () => sent++).answer).kind).toBe('failed');
    expect([worker.asked.length, sent]).toEqual([2, 1]);
  });

  it('policies 5: is sent again where a kept connection turns out to be closed', async () => {
    let resets = 0;
    worker.pages = {
      '/v1/chat/completions?x=1': (request, response) => {
        if (resets++ === 0) request.socket.resetAndDestroy();
        else response.end('{}');
      },
    };
    expect(await client.send(call(), () => {}).answer).toMatchObject({ kind: 'answer', status: 200 });
  });

  it('is not sent again once an answer has begun', async () => {
    worker.pages = {
      '/v1/chat/completions?x=1': (request, response) => {
        response.writeHead(200, { 'content-length': 9 }).write('{', () => request.socket.resetAndDestroy());
      },
    };
    expect((await client.send(call(), () => {}).answer).kind).toBe('failed');
    expect(worker.asked).toHaveLength(1);
  });

  it('reads an answer that nobody wants to its end, and keeps that of an error', async () => {
    const large = Buffer.alloc(20 * 1024 * 1024);
    worker.pages = { '/v1/chat/completions?x=1': (_, response) => response.end(large) };
    const unwanted = call({ wantsAnswer: false });
    const empty = Buffer.alloc(0);
    expect(await client.send(unwanted, () => {}).answer).toMatchObject({ body: empty, complete: true });
    worker.pages = { '/v1/chat/completions?x=1': (_, response) => response.writeHead(400).end('why') };
    expect(await client.send(unwanted, () => {}).answer).toMatchObject({ status: 400, body: Buffer.from('why') });
  });

  it('fails on what is no HTTP', async () => {
    const server = createTcpServer((socket) => socket.once('data', () => socket.end('hello\r\n\r\n')));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    expect((await client.send(call({ origin: `http://127.0.0.1:${port}` }), () => {}).answer).kind).toBe('failed');
    await new Promise((resolve) => server.close(resolve));
  });

  it('fails on a header that no HTTP message can hold', async () => {
    const headers = { host: 'a', 'x-bad': 'a\nb' };
    expect((await client.send(call({ headers }), () => {}).answer).kind).toBe('failed');
  });

  it('cuts an answer without end', async () => {
    const server: Server = createServer((_, response) => {
      const more = (): void => {
        while (response.write(Buffer.alloc(65_536)));
        response.once('drain', more);
      };
      more();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const answer = await client.send(call({ origin: `http://127.0.0.1:${port}` }), () => {}).answer;
    expect(answer).toMatchObject({ kind: 'answer', status: 200, complete: false });
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  it('ends what runs when the client closes', async () => {
    worker.pages = { '/v1/chat/completions?x=1': 'hang' };
    const running = client.send(call(), () => {});
    await until(() => worker.asked.length === 1, 'the worker was asked');
    await client.close();
    expect((await running.answer).kind).toBe('failed');
  });
});

it('speaks HTTP/2 without TLS where workers do', async () => {
  const server = createHttp2Server((request, response) => response.end(`${request.httpVersion} ${request.url}`));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const upstream = { ...DEFAULT_UPSTREAM, http2: true };
  const other = new PrefillClient({ connectTimeoutMs: 1000, upstream });
  const answer = await other.send(call({ origin: `http://127.0.0.1:${port}`, path: '/x' }), () => {}).answer;
  expect(answer).toMatchObject({ status: 200, body: Buffer.from('2.0 /x') });
  await other.close();
  await new Promise((resolve) => server.close(resolve));
});

it.each([
  ['HTTP/1.1', false],
  ['HTTP/2', true],
])('speaks %s over TLS, to an address under the name of its certificate', async (_, http2) => {
  const { cert, key } = selfSigned({ names: ['prefill.local'], now: Date.now(), days: 1 });
  const reply = (request: { httpVersion: string }, response: { end(text: string): void }) =>
    response.end(request.httpVersion);
  const server = http2 ? createSecureServer({ cert, key }, reply) : createHttpsServer({ cert, key }, reply);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const upstream = { ...DEFAULT_UPSTREAM, http2, tls: { ...DEFAULT_UPSTREAM.tls, ca: [cert] } };
  const other = new PrefillClient({ connectTimeoutMs: 1000, upstream });
  const to = (name: string) =>
    other.send(call({ origin: `https://127.0.0.1:${port}`, headers: { host: `${name}:8000` } }), () => {}).answer;

  expect(await to('prefill.local')).toMatchObject({ status: 200, body: Buffer.from(http2 ? '2.0' : '1.1') });
  expect(await to('other.local')).toMatchObject({ kind: 'failed' });
  await other.close();
  await new Promise((resolve) => server.close(resolve));
});
