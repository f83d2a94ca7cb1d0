import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Certificate, selfSigned } from '../sim/certificate.ts';
import { grpcJsTransport } from './grpc-js.ts';
import { http2Transport } from './http2/http2-transport.ts';
import { type Listener, openListener } from './listener.ts';
import { SERVER_NAME, StockClient, until } from './peers.suite.ts';
import { ECHO, suiteSetup } from './setup.suite.ts';
import { openTlsPort } from './tls-port.ts';
import type { HandshakeFailure, HandshakeLimits, TlsOptions } from './transport.ts';

const selfMade = (name: string): Certificate => selfSigned({ names: [name, SERVER_NAME], now: Date.now(), days: 1 });

describe('handshakes', () => {
  const own = selfMade('own');
  const stranger = selfMade('stranger');
  const cleanups: (() => unknown)[] = [];
  let folder = '';
  let client: Certificate = own;
  let authority = '';
  let failures: HandshakeFailure[] = [];

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'smg-tls-port-'));
    const at = (name: string): string => join(folder, name);
    const openssl = (...args: string[]): unknown => execFileSync('openssl', args, { stdio: 'pipe' });
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
    openssl('req', '-x509', ...key, '-subj', '/CN=ca', '-keyout', at('ca.key'), '-out', at('ca.pem'), '-days', '1');
    openssl('req', ...key, '-subj', '/CN=envoy', '-keyout', at('c.key'), '-out', at('c.csr'));
    openssl(
      'x509',
      '-req',
      '-in',
      at('c.csr'),
      '-CA',
      at('ca.pem'),
      '-CAkey',
      at('ca.key'),
      '-CAcreateserial',
      '-days',
      '1',
      '-out',
      at('c.pem'),
    );
    client = { cert: readFileSync(at('c.pem'), 'utf8'), key: readFileSync(at('c.key'), 'utf8') };
    authority = readFileSync(at('ca.pem'), 'utf8');
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
    failures = [];
  });

  const mutual = (): TlsOptions => ({ ...own, ca: authority, requestCert: true, rejectUnauthorized: true });

  async function listen(tls: TlsOptions): Promise<{ listener: Listener; port: number; accepted: Socket[] }> {
    const accepted: Socket[] = [];
    const listener = await openListener(
      { host: '127.0.0.1', port: 0 },
      { tls, failed: (reason) => failures.push(reason) },
      (socket) => {
        socket.on('error', () => undefined);
        accepted.push(socket);
      },
    );
    cleanups.push(() => listener.close());
    return { listener, port: Number(listener.name.split(':')[1]), accepted };
  }

  function call(port: number, options: ConnectionOptions = {}): TLSSocket {
    const socket = connectTls({
      host: '127.0.0.1',
      port,
      ca: own.cert,
      servername: SERVER_NAME,
      ALPNProtocols: ['h2'],
      ...options,
    });
    socket.on('error', () => undefined);
    cleanups.push(() => socket.destroy());
    return socket;
  }

  it.each<[HandshakeFailure, () => ConnectionOptions]>([
    ['no_certificate', () => ({})],
    ['untrusted', () => ({ cert: stranger.cert, key: stranger.key })],
    ['no_h2', () => ({ ...client, ALPNProtocols: ['http/1.1'] })],
    ['no_h2', () => ({ ...client, ALPNProtocols: [] })],
    ['old_version', () => ({ ...client, minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT:@SECLEVEL=0' })],
  ])('%s is told, and nothing is accepted', async (reason, options) => {
    const { port, accepted } = await listen(mutual());

    call(port, options());

    await until(() => failures.length > 0, 'the failure');
    expect(failures).toEqual([reason]);
    expect(accepted).toEqual([]);
  });

  // Node judges a certificate when the handshake is over; Envoy and openssl within it.
  it('a client that does not trust the certificate is told apart', async () => {
    const { port, accepted } = await listen(own);
    const at = ['-connect', `127.0.0.1:${port}`, '-alpn', 'h2', '-CAfile', join(folder, 'ca.pem')];

    execFile('openssl', ['s_client', ...at, '-verify_return_error'], () => undefined).stdin?.end();

    await until(() => failures.length > 0, 'the failure');
    expect(failures).toEqual(['refused_by_peer']);
    expect(accepted).toEqual([]);
  });

  it.each(['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'GET / HTTP/1.1\r\n\r\n', '\0'.repeat(64)])(
    'plain text is told as such and dropped: %j',
    async (text) => {
      const { port } = await listen(mutual());
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => undefined);
      socket.resume();
      socket.write(text);

      await new Promise((resolve) => socket.once('close', resolve));
      expect(failures).toEqual(['plaintext']);
    },
  );

  it('takes a client with a certificate of the authority, by TLS 1.2 and 1.3', async () => {
    const { port, accepted } = await listen(mutual());

    for (const version of ['TLSv1.2', 'TLSv1.3'] as const)
      call(port, { ...client, minVersion: version, maxVersion: version });

    await until(() => accepted.length === 2, 'both connections');
    expect(failures).toEqual([]);
  });

  it('resumes no session of an authority that is not trusted any more', async () => {
    const { listener, port, accepted } = await listen(mutual());
    const first = call(port, client);
    const session = new Promise<Buffer>((resolve) => first.once('session', resolve));
    await until(() => accepted.length === 1, 'the first connection');

    accepted[0]?.write('x');
    const resumed = await session;
    listener.renewTls({ ...mutual(), ca: stranger.cert });
    call(port, { ...client, session: resumed });

    await until(() => failures.length > 0, 'the refusal');
    expect(failures).toEqual(['untrusted']);
    expect(first.destroyed).toBe(false);
  });

  describe('limits', () => {
    async function limited(limits: HandshakeLimits): Promise<{ port: number; secured: Socket[] }> {
      const secured: Socket[] = [];
      const failed = (reason: HandshakeFailure): unknown => failures.push(reason);
      const port = openTlsPort({
        tls: own,
        secured: (socket) => secured.push(socket),
        failed: (r) => void failed(r),
        limits,
      });
      const server = createServer((raw) => port.accept(raw));
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      cleanups.push(() => server.close());
      const address = server.address();
      return { port: typeof address === 'object' && address !== null ? address.port : 0, secured };
    }

    function silent(port: number): Socket {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => undefined);
      socket.resume();
      cleanups.push(() => socket.destroy());
      return socket;
    }

    it('drops who is silent for longer than a handshake may take', async () => {
      const { port } = await limited({ timeoutMs: 50, atOnce: 10 });

      await new Promise((resolve) => silent(port).once('close', resolve));

      expect(failures).toEqual(['timeout']);
    });

    it('drops a connection more than may be at their handshakes, and takes others once those are over', async () => {
      const { port, secured } = await limited({ timeoutMs: 60_000, atOnce: 3 });
      const waiting = [silent(port), silent(port), silent(port)];
      await Promise.all(waiting.map((socket) => new Promise((resolve) => socket.once('connect', resolve))));

      await new Promise((resolve) => call(port).once('close', resolve));
      expect(failures).toEqual(['too_many']);

      for (const socket of waiting) socket.destroy();
      await until(() => failures.length === 4, 'the end of the handshakes');
      for (let count = 1; count <= 8; count++) {
        call(port);
        await until(() => secured.length === count, 'a connection');
      }
    });
  });
});

describe.each([
  ['http2', http2Transport],
  ['grpc-js', grpcJsTransport],
])('a certificate that is replaced, with %s', (_name, factory) => {
  const before = selfMade('before');
  const { setUp, stock, cleanups } = suiteSetup(factory, before);

  it('counts for new connections, while an open stream goes on', async () => {
    const after = selfMade('after');
    const { transport, address } = await setUp();
    const open = stock(address).stream(ECHO);
    open.call.write(Buffer.from('one'));
    await until(() => open.messages.length === 1, 'the first answer');

    transport.renewTls(after);
    const late = new StockClient(address, after.cert);
    cleanups.push(() => late.close());
    expect((await late.unary(ECHO, Buffer.from('x'))).code).toBe(0);

    open.call.write(Buffer.from('two'));
    open.call.end();
    expect((await open.done).messages.map(String)).toEqual(['one', 'two']);
  });
});
