import { createServer, type Server } from 'node:http';
import { createServer as createHttp2Server, createSecureServer, type ServerHttp2Stream } from 'node:http2';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server as NetServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { selfSigned } from '../sim/certificate.ts';
import { workerAsker } from './ask-worker.ts';
import { DEFAULT_UPSTREAM, type UpstreamTls } from './upstream.ts';
import { plainSpec } from './worker-spec.ts';
import { parseWorkerUrl } from './worker-url.ts';

const own = certificate('localhost', '127.0.0.1');
const other = certificate('other.example');

const servers: NetServer[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

function certificate(...names: string[]) {
  return selfSigned({ names, now: Date.now(), days: 1 });
}

async function listen(server: NetServer): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

interface How {
  readonly tls?: Partial<UpstreamTls>;
  readonly http2?: boolean;
  readonly health?: boolean;
  readonly apiKey?: string;
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
}

/** Asks the worker of that URL, whatever its name resolves to, on this machine. */
async function ask(url: string, port: number, how: How = {}) {
  const parsed = parseWorkerUrl(url.replace('PORT', String(port)));
  if (!parsed.ok) throw new Error(parsed.message);
  const spec = { ...plainSpec(parsed.url), apiKey: how.apiKey ?? null };
  const tls = { ...DEFAULT_UPSTREAM.tls, ...how.tls };
  const { timeoutMs = 5_000, maxBytes = 1_000, health = false } = how;
  const { signal } = new AbortController();
  const asked = workerAsker({ http2: how.http2 ?? false, tls });
  return asked(spec, `127.0.0.1:${port}`, { path: '/health', timeoutMs, maxBytes, signal, health });
}

/** Of an answer its status and text, of a failure its reason. */
async function outcome(...args: Parameters<typeof ask>) {
  const result = await ask(...args);
  if (result.kind === 'answer') return `${result.status} ${result.body}`;
  return result.kind === 'timeout' ? 'timeout' : result.reason;
}

const hello = () => createServer((request, response) => response.end(`hello ${request.headers.host}`));

describe('decisions 45 questions to https workers', () => {
  const tlsServer = (options: object = own): Server =>
    createTlsServer(options, (request, response) => response.end(`hello ${request.headers.authorization ?? ''}`));

  it.each<[string, string, How, string]>([
    ['a trusted certificate for the name', 'https://localhost:PORT', { tls: { ca: [own.cert] } }, '200 hello '],
    [
      'a trusted certificate for the address',
      'https://127.0.0.1:PORT',
      { tls: { ca: [other.cert, own.cert] } },
      '200 hello ',
    ],
    ['an API key', 'https://localhost:PORT', { tls: { ca: [own.cert] }, apiKey: 'k' }, '200 hello Bearer k'],
    [
      'a certificate for another name',
      'https://w.example:PORT',
      { tls: { ca: [own.cert] } },
      'its certificate is for another name: ERR_TLS_CERT_ALTNAME_INVALID',
    ],
    [
      'an authority that is not trusted',
      'https://localhost:PORT',
      {},
      'its certificate is signed by itself and not trusted (--ca-cert-paths): DEPTH_ZERO_SELF_SIGNED_CERT',
    ],
    ['any certificate, where none is checked', 'https://w.example:PORT', { tls: { insecure: true } }, '200 hello '],
  ])('%s', async (_, url, how, expected) => {
    expect(await outcome(url, await listen(tlsServer()), how)).toBe(expected);
  });

  it('shows its own certificate to a worker that wants one', async () => {
    const mutual = { ...own, requestCert: true, rejectUnauthorized: true, ca: [other.cert], maxVersion: 'TLSv1.3' };
    const port = await listen(tlsServer(mutual));
    const trust = { ca: [own.cert] };

    expect(await outcome('https://localhost:PORT', port, { tls: { ...trust, cert: other.cert, key: other.key } })).toBe(
      '200 hello ',
    );
    expect(await outcome('https://localhost:PORT', port, { tls: trust })).toBe(
      'it wants a client certificate (--client-cert-path): ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED',
    );
  });

  it('says that a worker does not speak TLS', async () => {
    const port = await listen(hello());
    expect(await outcome('https://localhost:PORT', port)).toMatch(/^it does not speak TLS.*: (EPROTO|ERR_SSL_)/);
  });
});

describe('decisions 45 questions by HTTP/2', () => {
  const serve = (stream: ServerHttp2Stream) =>
    stream.respond({ ':status': 200 }, { endStream: false }) ?? stream.end('two');

  it('without TLS, by prior knowledge', async () => {
    const port = await listen(createHttp2Server().on('stream', serve));
    expect(await outcome('http://localhost:PORT', port, { http2: true })).toBe('200 two');
    expect(await outcome('http://localhost:PORT', port)).toMatch(/does not speak HTTP\/1.1|ECONNRESET|HPE_/);
  });

  it('over TLS', async () => {
    const port = await listen(createSecureServer(own).on('stream', serve));
    expect(await outcome('https://localhost:PORT', port, { http2: true, tls: { ca: [own.cert] } })).toBe('200 two');
    expect(await outcome('https://w.example:PORT', port, { http2: true, tls: { ca: [own.cert] } })).toBe(
      'its certificate is for another name: ERR_TLS_CERT_ALTNAME_INVALID',
    );
  });

  it('names who is asked, and brings the API key', async () => {
    const headers = new Promise<string[]>((resolve) => {
      const server = createHttp2Server().on('stream', (stream, got) => {
        resolve([got[':method'], got[':path'], got[':authority'], got.authorization].map(String));
        serve(stream);
      });
      void listen(server).then((port) => ask('http://W.example:PORT', port, { http2: true, apiKey: 'k' }));
    });
    expect((await headers).join(' ')).toMatch(/^GET \/health W.example:\d+ Bearer k$/);
  });

  it('a body over the bound, silence, HTTP/1.1, a refused connection', async () => {
    const port = await listen(createHttp2Server().on('stream', serve));
    expect(await ask('http://localhost:PORT', port, { http2: true, maxBytes: 2 })).toMatchObject({
      kind: 'answer',
      complete: false,
    });
    const silent = await listen(createHttp2Server().on('stream', () => {}));
    expect(await outcome('http://localhost:PORT', silent, { http2: true, timeoutMs: 20 })).toBe('timeout');
    const old = await listen(hello());
    expect(await outcome('http://localhost:PORT', old, { http2: true })).toMatch(
      /HTTP\/2|ECONNRESET|connection closed/,
    );
    expect(await outcome('http://localhost:PORT', 1, { http2: true })).toBe('ECONNREFUSED');
  });
});

describe('grpc.health.v1 questions to gRPC workers', () => {
  const frame = (...bytes: number[]) => Buffer.from([0, 0, 0, 0, bytes.length, ...bytes]);

  it.each<[string, number, Buffer | null, string, string]>([
    ['SERVING', 200, frame(8, 1), '0', '200 '],
    ['NOT_SERVING', 200, frame(8, 2), '0', '503 '],
    ['UNKNOWN', 200, frame(), '0', '503 '],
    ['UNIMPLEMENTED', 200, null, '12', 'it does not serve grpc.health.v1: turn its health check off'],
    ['UNAVAILABLE', 200, null, '14', 'grpc-status 14'],
    ['an HTTP error', 404, null, '', 'HTTP 404, which is no gRPC answer'],
  ])('%s', async (_, status, message, grpcStatus, expected) => {
    const asked: string[] = [];
    const server = createHttp2Server().on('stream', (stream, headers) => {
      asked.push(`${headers[':method']} ${headers[':path']} ${headers['content-type']} ${headers['te']}`);
      const trailers: Record<string, string> = grpcStatus === '' ? {} : { 'grpc-status': grpcStatus };
      if (message === null) return void stream.respond({ ':status': status, ...trailers }, { endStream: true });
      stream.respond({ ':status': status }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers(trailers));
      stream.end(message);
    });
    const port = await listen(server);

    expect(await outcome('grpc://localhost:PORT', port, { health: true })).toBe(expected);
    expect(asked).toEqual(['POST /grpc.health.v1.Health/Check application/grpc trailers']);
    expect(await outcome('grpc://localhost:PORT', port)).toBe('404 ');
    expect(asked).toHaveLength(1);
  });

  it('over TLS', async () => {
    const server = createSecureServer(own).on('stream', (stream) => {
      stream.respond({ ':status': 200 }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
      stream.end(frame(8, 1));
    });
    const tls = { ca: [own.cert] };
    expect(await outcome('grpcs://localhost:PORT', await listen(server), { health: true, tls })).toBe('200 ');
  });
});
