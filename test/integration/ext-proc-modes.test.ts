import { createHash } from 'node:crypto';
import { createServer, request as httpRequest, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ExtProc } from '../../src/envoy/ext-proc/ext-proc.ts';
import { FakePicker, HEADERS_DO, NotedEvents, pickOf, READ, REFUSAL } from '../../src/envoy/ext-proc/fixture.suite.ts';
import { HeldTotal } from '../../src/envoy/ext-proc/held-total.ts';
import { grpcJsTransport } from '../../src/transport/grpc-js.ts';
import type { Transport } from '../../src/transport/transport.ts';
import { type EnvoyHandle, noEnvoy, startEnvoy } from '../support/envoy.ts';
import { extProcBootstrap } from '../support/ext-proc-bootstrap.ts';
import { freePort } from '../support/ports.ts';
import { until } from '../support/until.ts';

interface Received {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const DUPLEX = {
  request_header_mode: 'SEND',
  response_header_mode: 'SEND',
  request_body_mode: 'FULL_DUPLEX_STREAMED',
  response_body_mode: 'FULL_DUPLEX_STREAMED',
  request_trailer_mode: 'SEND',
  response_trailer_mode: 'SEND',
};
const SKIP = { request_header_mode: 'SEND', response_header_mode: 'SKIP' };

const MODES: [string, Record<string, string>][] = [
  ['NONE', SKIP],
  ['BUFFERED', { ...SKIP, request_body_mode: 'BUFFERED' }],
  ['BUFFERED_PARTIAL', { ...SKIP, request_body_mode: 'BUFFERED_PARTIAL' }],
  ['STREAMED', { ...SKIP, request_body_mode: 'STREAMED' }],
  [
    'response headers, bodies and trailers',
    { ...SKIP, response_header_mode: 'SEND', response_body_mode: 'STREAMED', response_trailer_mode: 'SEND' },
  ],
  ['FULL_DUPLEX_STREAMED', DUPLEX],
];

const md5 = (bytes: Buffer): string => createHash('md5').update(bytes).digest('hex');

/** Answers with its own number and what it got. */
function worker(number: number): Promise<Server> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      response.setHeader('x-worker', number);
      response.setHeader('x-smg-error-code', 'forged');
      response.end(JSON.stringify({ bytes: body.length, md5: md5(body), headers: request.headers }));
    });
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

describe.skipIf(noEnvoy())('envoy 4 the processing modes of a real Envoy', () => {
  const servers: Server[] = [];
  let ports: number[] = [];
  let transport: Transport | undefined;
  let envoy: EnvoyHandle | undefined;
  let picker: FakePicker;
  let observer: NotedEvents;
  let method: ExtProc;

  beforeAll(async () => {
    servers.push(await worker(0), await worker(1), await worker(2));
    ports = servers.map((server) => (server.address() as AddressInfo).port);
  });
  afterAll(() => {
    for (const server of servers) server.close();
  });
  afterEach(async () => {
    await envoy?.stop();
    await transport?.close();
  });

  async function setUp(mode: Record<string, string>, metadata: Record<string, string> = {}): Promise<void> {
    picker = new FakePicker();
    picker.answer = () => pickOf('p1', { destination: `127.0.0.1:${ports[2]}`, requestId: 'chatcmpl-7' });
    observer = new NotedEvents();
    method = new ExtProc({
      picker,
      observer,
      destinationHeader: 'auto',
      testEndpointSelection: false,
      decisionTimeoutMs: 250,
      collectLimitBytes: 1 << 26,
      held: new HeldTotal(1 << 28),
      endsHeldStreams: false,
    });
    transport = grpcJsTransport([method], { maxReceiveBytes: 1 << 26, onHandlerError: () => undefined });
    const address = await transport.listen({ host: '127.0.0.1', port: 0 });
    envoy = await startEnvoy(
      extProcBootstrap({
        listenPort: await freePort(),
        adminPort: await freePort(),
        pickerPort: Number(address.split(':')[1]),
        workerPorts: ports,
        mode,
        metadata,
      }),
    );
  }

  function send(method: string, body: Buffer | null, headers: Record<string, string> = {}): Promise<Received> {
    return new Promise((resolve, reject) => {
      const request = httpRequest(`${envoy?.url}/v1/chat/completions`, {
        method,
        agent: false,
        headers: { ...(body === null ? {} : { 'content-type': 'application/json' }), ...headers },
      });
      request.on('error', reject);
      request.on('response', (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: String(Buffer.concat(chunks)) });
        });
      });
      if (body !== null) for (let i = 0; i < body.length; i += 50_000) request.write(body.subarray(i, i + 50_000));
      request.end();
    });
  }

  const prompt = (size: number): Buffer => Buffer.from(JSON.stringify({ prompt: 'abcdefg'.repeat(size / 7) }));

  it.each(MODES)(
    '%s: picks with and without a body, whether or not the body decides; bodies arrive unchanged',
    async (name, mode) => {
      await setUp(mode);
      const sizes = [0, 1000, 300_000];

      for (const plan of [HEADERS_DO, READ]) {
        picker.planned = plan;
        const bodyless = await send('GET', null);
        expect([bodyless.status, bodyless.headers['x-worker']]).toEqual([200, '2']);
        for (const size of sizes) {
          const body = size === 0 ? Buffer.alloc(0) : prompt(size);
          const reply = await send('POST', body, { 'x-smg-target-worker': '1', 'transfer-encoding': 'chunked' });
          expect([size, reply.status, reply.headers['x-worker']]).toEqual([size, 200, '2']);
          const seen = JSON.parse(reply.body);
          expect({ bytes: seen.bytes, md5: seen.md5 }).toEqual({ bytes: body.length, md5: md5(body) });
          expect(seen.headers['x-request-id']).toBe('chatcmpl-7');
          expect(seen.headers['x-smg-target-worker']).toBeUndefined();
          const reads = plan.readBody && name !== 'STREAMED';
          expect(picker.asked.at(-1)?.body?.bytes.length ?? null).toBe(reads ? body.length : null);
        }
      }
      expect(observer.notes).not.toContain('overrideIgnored');
      await until(() => method.openStreams === 0, 'the streams are over');
      expect(picker.abandoned).toEqual([]);
    },
  );

  it('FULL_DUPLEX_STREAMED: 12 MB pass unchanged, and the destination header is there too', async () => {
    await setUp(DUPLEX);
    picker.planned = READ;
    const body = prompt(12_000_000);

    const reply = await send('POST', body);
    const seen = JSON.parse(reply.body);

    expect({ status: reply.status, bytes: seen.bytes, md5: seen.md5 }).toEqual({
      status: 200,
      bytes: body.length,
      md5: md5(body),
    });
    expect(seen.headers['x-gateway-destination-endpoint']).toBe(`127.0.0.1:${ports[2]}`);
  });

  it.each(MODES)('%s: a refusal reaches the client in the envelope', async (_name, mode) => {
    await setUp(mode);
    picker.answer = () => REFUSAL;
    picker.planned = READ;

    const reply = await send('POST', prompt(1000));

    expect(reply.status).toBe(404);
    expect(reply.headers).toMatchObject({
      'content-type': 'application/json',
      'x-smg-error-code': 'model_not_found',
      'x-request-id': 'chatcmpl-1',
      'retry-after': '10',
    });
    expect(JSON.parse(reply.body)).toMatchObject({
      error: { type: 'Not Found', code: 'model_not_found', param: null },
    });
  });

  it.each(MODES)('%s: a failing picker costs no request and no byte', async (_name, mode) => {
    await setUp(mode);
    picker.answer = () => Promise.reject(new Error('broken'));
    picker.planned = READ;
    const body = prompt(100_000);

    const reply = await send('POST', body);

    expect(reply.status).toBe(200);
    expect(JSON.parse(reply.body)).toMatchObject({ bytes: body.length, md5: md5(body) });
  });

  it.each([
    ['a foreign configuration', {}, true],
    ['our own configuration', { 'x-smg-envoy': 'periodic=10' }, false],
  ])('response headers in %s', async (_name, metadata, stamped) => {
    await setUp({ ...SKIP, response_header_mode: 'SEND' }, metadata);

    const reply = await send('GET', null);

    expect(reply.headers['x-smg-routed-worker-id']).toBe(stamped ? `worker-at-127.0.0.1:${ports[2]}` : undefined);
    expect(reply.headers['x-smg-error-code']).toBe(stamped ? undefined : 'forged');
  });

  it('ends held streams with OK on drain, which costs no request', async () => {
    await setUp({ ...SKIP, request_body_mode: 'BUFFERED' });
    picker.planned = READ;

    method.drain();
    const replies = await Promise.all(Array.from({ length: 20 }, () => send('POST', prompt(1000))));

    expect(replies.map((reply) => reply.headers['x-worker'])).toEqual(Array(20).fill('2'));
    expect(picker.ended).toEqual([]);
  });
});
