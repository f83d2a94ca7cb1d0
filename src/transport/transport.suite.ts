import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { Metadata } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import type { Certificate } from '../sim/certificate.ts';
import { lifecycleSuite } from './lifecycle.suite.ts';
import { framed, until, withoutHalfClose } from './peers.suite.ts';
import { ECHO, MIB, SILENT, suiteSetup, THROW } from './setup.suite.ts';
import { GrpcStatus, type TransportFactory } from './transport.ts';

/** What every transport must do (transport.ts), seen from a stock gRPC client and from a bare HTTP/2 one. */
export function transportSuite(name: string, factory: TransportFactory, certificate: Certificate | null = null): void {
  describe(`${name} transport`, () => {
    const { setUp, stock, raw, errors } = suiteSetup(factory, certificate);

    describe('messages', () => {
      it('delivers several messages of a call in order and sends the answers in order', async () => {
        const { echo, address } = await setUp();
        const { call, done } = stock(address).stream(ECHO);

        const sent = ['one', '', 'three', 'four'].map((text) => Buffer.from(text));
        for (const message of sent) call.write(message);
        call.end();
        const reply = await done;

        expect(reply).toMatchObject({ code: 0, messages: sent });
        await until(() => echo.calls[0]?.events.at(-1) === 'closed');
        expect(echo.calls[0]?.events).toEqual(['message', 'message', 'message', 'message', 'halfClosed', 'closed']);
      });

      it('carries 20 MB both ways unchanged', async () => {
        const { address } = await setUp();
        const { call, done } = stock(address).stream(ECHO);
        const large = randomBytes(20 * MIB);

        call.write(large);
        call.end();
        const reply = await done;

        expect(reply.code).toBe(0);
        expect(reply.messages[0]?.equals(large)).toBe(true);
      });

      it('has a window that a long prompt fits into', async () => {
        const { address } = await setUp();
        const { session } = raw(address);

        await until(() => (session.remoteSettings.initialWindowSize ?? 0) >= MIB, 'the window of a stream');
        await until(() => (session.state.remoteWindowSize ?? 0) >= MIB, 'the window of the connection');
      });

      it('joins a message that comes in pieces and parts messages that come in one piece', async () => {
        const { echo, address } = await setUp();
        const stream = raw(address).open(ECHO);
        const bytes = Buffer.concat([framed(Buffer.from('ab')), framed(Buffer.from('cdef'))]);

        for (const byte of bytes.subarray(0, 9)) {
          stream.write(Buffer.from([byte]));
          await new Promise((resolve) => setImmediate(resolve));
        }
        stream.end(bytes.subarray(9));

        await until(() => echo.calls[0]?.events.at(-1) === 'closed');
        expect(echo.calls[0]?.messages.map(String)).toEqual(['ab', 'cdef']);
      });

      it('ends only the call whose message is over the limit, with RESOURCE_EXHAUSTED', async () => {
        const { echo, address } = await setUp(1000);
        const client = stock(address);
        const other = client.stream(ECHO);
        other.call.write(Buffer.alloc(1000, 1));

        const over = client.stream(ECHO);
        over.call.write(Buffer.alloc(1001));
        const refused = await over.done;
        other.call.end();
        const served = await other.done;

        expect(refused).toMatchObject({ code: GrpcStatus.resourceExhausted, messages: [] });
        expect(served).toMatchObject({ code: 0, messages: [Buffer.alloc(1000, 1)] });
        await until(() => echo.calls.every((seen) => seen.events.at(-1) === 'closed'));
        expect(echo.calls[1]?.events).toEqual(['closed']);
      });

      it('serves a unary call', async () => {
        const { address } = await setUp();

        const reply = await stock(address).unary(ECHO, Buffer.from('hello'));

        expect(reply).toMatchObject({ code: 0, messages: [Buffer.from('hello')] });
      });

      it('gives the first value of a request metadata entry, and undefined for an absent one', async () => {
        const { echo, address } = await setUp();
        const metadata = new Metadata();
        metadata.set('x-smg-envoy', 'periodic=10');
        const { call, done } = stock(address).stream(ECHO, metadata);
        call.end();
        await done;

        expect(echo.calls[0]?.call.metadata('x-smg-envoy')).toBe('periodic=10');
        expect(echo.calls[0]?.call.metadata('x-absent')).toBeUndefined();
      });

      it('keeps 1,000 calls at once apart', async () => {
        const { transport, address } = await setUp();
        const client = stock(address);
        const streams = Array.from({ length: 1000 }, () => client.stream(ECHO));

        streams.forEach(({ call }, index) => {
          call.write(Buffer.from(`call ${index}`));
        });
        await until(() => streams.every(({ messages }) => messages.length === 1), 'all answers');
        expect(transport.openCalls).toBe(1000);
        for (const { call } of streams) call.end();
        const replies = await Promise.all(streams.map(({ done }) => done));

        expect(replies.map((reply) => String(reply.messages[0]))).toEqual(streams.map((_, index) => `call ${index}`));
        await until(() => transport.openCalls === 0);
      });
    });

    describe('the end of a call', () => {
      it('reports a half-close without a message, then the close', async () => {
        const { echo, address } = await setUp();
        raw(address).open(ECHO).end();

        await until(() => echo.calls[0]?.events.at(-1) === 'closed');
        expect(echo.calls[0]?.events).toEqual(['halfClosed', 'closed']);
      });

      it('never delivers a message that was cut by the end of the stream', async () => {
        const { echo, address } = await setUp();
        raw(address)
          .open(ECHO)
          .end(framed(Buffer.from('short'), 100));

        await until(() => echo.calls[0]?.events.at(-1) === 'closed');
        expect(echo.calls[0]?.messages).toEqual([]);
      });

      it('reports a cancel by the client once', async () => {
        const { silent, address } = await setUp();
        const { call, done } = stock(address).stream(SILENT);
        call.write(Buffer.from('x'));
        await until(() => silent.calls[0]?.events.length === 1);

        call.cancel();
        await done;

        await until(() => silent.calls[0]?.events.at(-1) === 'closed');
        expect(withoutHalfClose(silent.calls[0]!)).toEqual(['message', 'closed']);
      });

      it('reports a bare reset with INTERNAL_ERROR after an answer, as Envoy sends it (envoy 3.2)', async () => {
        const { echo, address } = await setUp();
        const stream = raw(address).open(ECHO);
        stream.write(framed(Buffer.from('x')));
        await new Promise((resolve) => stream.once('data', resolve));

        stream.close(2);

        await until(() => echo.calls[0]?.events.at(-1) === 'closed');
        expect(withoutHalfClose(echo.calls[0]!)).toEqual(['message', 'closed']);
        expect(errors).toEqual([]);
      });

      it('reports the loss of the connection on every call of it', async () => {
        const { silent, transport, address } = await setUp();
        const client = raw(address);
        for (let i = 0; i < 5; i += 1) client.open(SILENT).write(framed(Buffer.from('x')));
        await until(() => silent.calls.length === 5 && silent.calls.every((seen) => seen.events.length === 1));

        client.dropConnection();

        await until(() => transport.openCalls === 0);
        expect(silent.calls.map(withoutHalfClose)).toEqual(Array(5).fill(['message', 'closed']));
      });

      it('ends with the status the service gives, after the messages sent before', async () => {
        const { silent, address } = await setUp();
        const { call, done } = stock(address).stream(SILENT);
        call.write(Buffer.from('x'));
        await until(() => silent.calls[0]?.events.length === 1);

        silent.calls[0]?.call.send(Buffer.from('last words'));
        silent.calls[0]?.call.end(GrpcStatus.notFound, 'no such thing');
        const reply = await done;

        expect(reply).toMatchObject({
          code: GrpcStatus.notFound,
          details: 'no such thing',
          messages: [Buffer.from('last words')],
        });
        await until(() => silent.calls[0]?.events.at(-1) === 'closed');
        expect(silent.calls[0]?.events).toEqual(['message', 'closed']);
      });

      it('ignores a second end, and whatever is sent once the call is over', async () => {
        const { silent, address } = await setUp();
        const { call, done } = stock(address).stream(SILENT);
        call.write(Buffer.from('x'));
        await until(() => silent.calls[0]?.events.length === 1);
        const server = silent.calls[0]!.call;

        server.end();
        server.end(GrpcStatus.internal, 'too late');
        server.send(Buffer.from('too late'));
        const reply = await done;
        await until(() => silent.calls[0]?.events.at(-1) === 'closed');
        server.send(Buffer.from('too late'));
        server.end();

        expect(reply).toMatchObject({ code: 0, messages: [] });
        expect(silent.calls[0]?.events.filter((event) => event === 'closed')).toHaveLength(1);
      });

      it('keeps serving after 5,000 resets, each call closed once (envoy 3.3)', { timeout: 60_000 }, async () => {
        const { echo, transport, address } = await setUp();
        let client = raw(address);
        for (let i = 0; i < 5000; i += 1) {
          if (client.goneAway || client.session.closed || client.session.destroyed) client = raw(address);
          const stream = client.open(ECHO);
          const over = new Promise((resolve) => stream.once('close', resolve));
          stream.write(framed(Buffer.from('x')));
          stream.once('data', () => stream.close(2));
          await over;
        }

        await until(() => transport.openCalls === 0);
        const { call, done } = stock(address).stream(ECHO);
        call.end(Buffer.from('still here'));
        expect((await done).messages.map(String)).toEqual(['still here']);
        expect(echo.calls.length).toBeGreaterThan(4900);
        for (const seen of echo.calls.slice(0, -1)) expect(seen.events.filter((e) => e === 'closed')).toHaveLength(1);
        expect(errors).toEqual([]);
      });
    });

    describe('errors', () => {
      it('answers an unknown method with UNIMPLEMENTED', async () => {
        const { address } = await setUp();

        const reply = await stock(address).unary('/suite.Test/Unknown', Buffer.alloc(0));

        expect(reply.code).toBe(GrpcStatus.unimplemented);
      });

      it.each(['open', 'message', 'halfClosed'])('turns a throw at %s into INTERNAL and reports it', async (at) => {
        const { transport, address } = await setUp();
        const metadata = new Metadata();
        metadata.set('throw-at', at);
        const { call, done } = stock(address).stream(THROW, metadata);

        call.end(Buffer.from('x'));
        const reply = await done;

        expect(reply.code).toBe(GrpcStatus.internal);
        expect(errors).toEqual([new Error(`thrown at ${at}`)]);
        await until(() => transport.openCalls === 0);
      });

      it('reports a throw at closed and goes on', async () => {
        const { transport, address } = await setUp();
        const metadata = new Metadata();
        metadata.set('throw-at', 'closed');
        const { call, done } = stock(address).stream(THROW, metadata);

        call.end();
        await done;

        await until(() => errors.length === 1);
        expect(transport.openCalls).toBe(0);
      });

      it('outlives bytes that are not HTTP/2', async () => {
        const { address } = await setUp();
        const [host, port] = address.split(':');
        const socket = connect(Number(port), host);
        socket.on('error', () => undefined);
        socket.resume();
        socket.end('GET / HTTP/1.1\r\n\r\n');
        await new Promise((resolve) => socket.once('close', resolve));

        expect((await stock(address).unary(ECHO, Buffer.from('x'))).code).toBe(0);
      });
    });
  });

  lifecycleSuite(name, factory, certificate);
}
