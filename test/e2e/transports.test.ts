import { execFile } from 'node:child_process';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chatBody, MODEL, pieces, sha256 } from '../support/bodies.ts';
import { type Answer, ask, http2Client, noEnvoy, type Outgoing, rawHttp, until } from '../support/services.ts';
import { type Stack, startStack } from '../support/stack.ts';
import { echoed, openWebSocket } from '../support/websocket.ts';
import { bodyLimits } from './body-limits.suite.ts';
import { processingModes } from './processing-modes.suite.ts';
import { trailers } from './trailers.suite.ts';

const CHAT = '/v1/chat/completions';
const MEBIBYTE = 1024 * 1024;
const FLAGS = ['--policy', 'round_robin', '--routing-key-override'];

/** An answer in server-sent events that takes a minute, watched from its first byte to its last. */
interface LongAnswer {
  readonly status: number;
  readonly worker: string | undefined;
  readonly text: string;
  /** Milliseconds from the request to each piece. */
  readonly arrivals: readonly number[];
}

describe.skipIf(noEnvoy())('every transport: routed, sticky, and byte-identical at the worker', () => {
  let stack: Stack;
  let long: Promise<LongAnswer>;

  beforeAll(async () => {
    stack = await startStack({ sim: { digest: true }, flags: FLAGS, concurrency: 2 });
    long = watchLongAnswer(stack.url);
    long.catch(() => undefined); // the test that waits for it sees the error
  });
  afterAll(() => stack?.close());

  /** What the client sent is what the worker got, and the worker is named. */
  function expectServed(answer: Answer, body: Buffer | string): string {
    expect({ status: answer.status, sha256: answer.headers['x-sim-body-sha256'] }).toEqual({
      status: 200,
      sha256: sha256(body),
    });
    return expectRouted(answer);
  }

  function expectRouted(answer: Answer): string {
    const worker = stack.sim.workers.find(({ name }) => name === answer.headers['x-sim-worker']);
    expect(answer.headers['x-smg-routed-worker-id']).toBe(worker?.url);
    return worker?.url ?? '';
  }

  const send = (out: Outgoing): Promise<Answer> => ask(stack.url, { path: CHAT, method: 'POST', ...out });

  /** Where a key lives, told by a small request. */
  async function home(key: string): Promise<string> {
    return expectRouted(await send({ body: { model: MODEL, rid: `${key}_t1` } }));
  }

  /** The request of one transport stays on the worker of its key, though the rotation moves in between. */
  async function expectSticky(key: string, next: () => Promise<Answer>, body: Buffer | string): Promise<void> {
    const first = await home(key);
    for (let turn = 0; turn < 2; turn++) {
      await home(`${key}-else-${turn}`);
      expect(expectServed(await next(), body)).toBe(first);
    }
  }

  describe('by rid', () => {
    it('8 MiB with the rid at the very end, length declared', async () => {
      const body = chatBody('large_t2', 8 * MEBIBYTE);
      await expectSticky('large', () => send({ body, headers: { 'x-smg-routing-key': 'other' } }), body);
    });

    it('8 MiB with the rid at the very end, chunked', async () => {
      const body = chatBody('pieces_t2', 8 * MEBIBYTE);
      const headers = { 'content-type': 'application/json' };
      await expectSticky('pieces', () => send({ body: pieces(body), headers }), body);
    });

    it('HTTP/2, with and without a declared length', async () => {
      const client = http2Client(stack.url);
      const body = chatBody('h2_t2', 3 * MEBIBYTE);
      const headers = { 'content-type': 'application/json' };
      await expectSticky('h2', () => client.ask({ path: CHAT, body, headers }), body);
      await expectSticky('h2', () => client.ask({ path: CHAT, body: pieces(body), headers }), body);
      client.close();
    });

    it('HTTP/2 by curl, with prior knowledge', async () => {
      const body = chatBody('curl_t2', 200_000).toString();
      const curl = async (): Promise<Answer> => {
        const args = ['-sS', '--http2-prior-knowledge', '-D', '-', '-o', '/dev/null', '--data-binary', '@-'];
        return headAnswer(await run('curl', [...args, '-H', 'content-type: application/json', stack.url + CHAT], body));
      };
      await expectSticky('curl', curl, body);
    });

    it('Expect: 100-continue is answered before the body is sent', async () => {
      const body = chatBody('expect_t2', 100_000);
      await expectSticky('expect', () => sendAfterContinue(stack.url, body), body);
    });
  });

  describe('by header key, where no body can be read', () => {
    const keyed = (key: string, more: Record<string, string> = {}) => ({ 'x-smg-routing-key': key, ...more });

    it.each<[string, string, Outgoing, Buffer | string]>([
      [
        'gzip body',
        'gzip',
        { body: gzipSync('{"rid":"x"}'), headers: { 'content-encoding': 'gzip' } },
        gzipSync('{"rid":"x"}'),
      ],
      ['empty body', 'empty', { headers: { 'content-length': '0', 'content-type': 'application/json' } }, ''],
      [
        'empty chunked body',
        'chunks',
        { headers: { 'transfer-encoding': 'chunked', 'content-type': 'application/json' } },
        '',
      ],
      [
        'body of another type',
        'octets',
        { body: Buffer.from([0, 255, 13, 10]), headers: { 'content-type': 'application/octet-stream' } },
        Buffer.from([0, 255, 13, 10]),
      ],
    ])('%s', async (_, key, out, body) => {
      await expectSticky(key, () => send({ ...out, headers: keyed(key, out.headers as Record<string, string>) }), body);
    });

    it('empty body in an HTTP/2 DATA frame', async () => {
      const client = http2Client(stack.url);
      const headers = keyed('h2-empty', { 'content-type': 'application/json' });
      await expectSticky(
        'h2-empty',
        () => client.ask({ path: CHAT, method: 'POST', headers, body: [Buffer.alloc(0)] }),
        '',
      );
      client.close();
    });

    it('a gRPC request is decided at its headers, as its stream may never end', async () => {
      const before = await stack.service.metrics();
      const client = http2Client(stack.url);
      const headers = keyed('grpc', { 'content-type': 'application/grpc', te: 'trailers' });
      const frame = Buffer.from([0, 0, 0, 0, 1, 42]);
      await expectSticky('grpc', () => client.ask({ path: CHAT, method: 'POST', headers, body: [frame] }), frame);
      client.close();
      const after = await stack.service.metrics();
      const asked = (metrics: typeof after) => metrics.sum('smg_envoy_bodies_requested_total');
      expect(asked(after) - asked(before)).toBe(3); // the three that told where keys live
    });

    it.each(['GET', 'HEAD', 'DELETE', 'OPTIONS'])('%s without a body', async (method) => {
      const one = () => ask(stack.url, { path: '/v1/models', method, headers: keyed(`m-${method}`) });
      const first = await one();
      await home(`${method}-else`);
      expect(first.status).toBe(200);
      expect(expectRouted(await one())).toBe(expectRouted(first));
    });
  });

  // The second path is one whose bodies are read, which would hang a handshake.
  it.each(['/v1/realtime?model=sim-model', CHAT])(
    'a WebSocket at %s echoes, sticks by header, counts until it ends',
    async (path) => {
      const first = await home('socket');
      await home('socket-else');
      const active = async () => (await stack.service.metrics()).sum('smg_worker_requests_active', { worker: first });
      const before = await active();

      const { socket, headers } = await openWebSocket(stack.url + path, { 'x-smg-routing-key': 'socket' });
      expect(headers['x-smg-routed-worker-id']).toBe(first);
      expect(await echoed(socket!, 'hello')).toBe('hello');
      expect(await active()).toBe(before + 1);
      expect(await echoed(socket!, 'again')).toBe('again');

      socket!.destroy();
      await until(async () => (await active()) === before, 'the count falls', 2_000);
    },
  );

  it('CONNECT is refused in the envelope, and the connection ends', async () => {
    const text = await rawHttp(stack.envoy.port, 'CONNECT example.org:443 HTTP/1.1\r\nhost: example.org:443\r\n\r\n');
    expect(text).toMatch(/^HTTP\/1\.1 404 /);
    expect(text).toContain('x-smg-error-code: route_not_found');
    expect(text).not.toContain('x-smg-routed-worker-id');
  });

  it('Set-Cookie twice arrives twice', async () => {
    const headers = { 'x-sim': JSON.stringify({ headers: ['set-cookie: a=1', 'set-cookie: b=2; Path=/'] }) };
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      httpRequest(`${stack.url}/v1/responses`, { method: 'POST', headers }, resolve).on('error', reject).end('{}');
    });
    response.resume();
    expect(response.headers['set-cookie']).toEqual(['a=1', 'b=2; Path=/']);
  });

  describe('body limits', () => bodyLimits(FLAGS));
  describe('trailers', () => trailers(FLAGS));
  describe('static processing modes', () => processingModes(FLAGS, () => stack));

  it('a 60 s answer in events arrives as it is made, and counts until its end', async () => {
    const answer = await long;
    expect(answer.status).toBe(200);
    expect(answer.text.match(/^data: /gm)).toHaveLength(123); // role, 120 tokens, stop, [DONE]
    expect(answer.text.endsWith('data: [DONE]\n\n')).toBe(true);
    expect(answer.arrivals.length).toBeGreaterThan(110);
    expect(answer.arrivals[0]).toBeLessThan(2_000);
    expect(answer.arrivals.at(-1)).toBeGreaterThan(59_000);
    const metrics = await stack.service.metrics();
    expect(metrics.sum('smg_envoy_access_log_entries_total', { kind: 'periodic' })).toBeGreaterThanOrEqual(5);
    await until(async () => (await stack.service.metrics()).sum('smg_envoy_picks_in_flight') === 0, 'all have ended');
    const releases = await stack.service.metrics();
    expect(releases.sum('smg_envoy_releases_total', { reason: 'periodic_lost' })).toBe(0);
  }, 90_000);
});

function watchLongAnswer(url: string): Promise<LongAnswer> {
  const headers = {
    'content-type': 'application/json',
    'x-sim': JSON.stringify({ tokens: 120, token_ms: 500 }),
  };
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    const request = httpRequest(url + CHAT, { method: 'POST', headers, agent: false }, (response) => {
      const arrivals: number[] = [];
      let text = '';
      response.on('data', (chunk: Buffer) => {
        arrivals.push(performance.now() - startedAt);
        text += chunk.toString();
      });
      response.on('error', reject);
      response.on('end', () => {
        const worker = response.headers['x-smg-routed-worker-id'];
        resolve({ status: response.statusCode ?? 0, worker: String(worker), text, arrivals });
      });
    });
    request.on('error', reject);
    request.end(JSON.stringify({ model: MODEL, rid: 'long_t1', stream: true }));
  });
}

/** Sends the body only when Envoy has said that it may come. */
function sendAfterContinue(url: string, body: Buffer): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { expect: '100-continue', 'content-type': 'application/json', 'content-length': body.length };
    const request = httpRequest(url + CHAT, { method: 'POST', headers, agent: false });
    request.on('continue', () => request.end(body));
    request.on('error', reject);
    request.on('response', (response) => {
      response.resume();
      response.on('end', () => resolve(toAnswer(response)));
    });
    request.flushHeaders();
  });
}

async function run(command: string, args: readonly string[], input: string): Promise<string> {
  const child = promisify(execFile)(command, args, { encoding: 'latin1' });
  child.child.stdin?.end(input);
  return (await child).stdout;
}

/** The last response head in what curl printed. */
function headAnswer(text: string): Answer {
  const lines = text.trim().split('\r\n');
  const at = lines.findLastIndex((line) => line.startsWith('HTTP/'));
  const headers = Object.fromEntries(lines.slice(at + 1).map((line) => line.split(/: (.*)/s) as [string, string]));
  return { status: Number(lines[at]?.split(' ')[1]), headers, body: Buffer.alloc(0), text: '', json: null };
}

function toAnswer({ statusCode = 0, headers }: IncomingMessage): Answer {
  return {
    status: statusCode,
    headers: headers as Record<string, string>,
    body: Buffer.alloc(0),
    text: '',
    json: null,
  };
}
