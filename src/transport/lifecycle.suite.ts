import { randomBytes } from 'node:crypto';
import { rename, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Certificate } from '../sim/certificate.ts';
import { until, withoutHalfClose } from './peers.suite.ts';
import { ECHO, SILENT, suiteSetup } from './setup.suite.ts';
import { GrpcStatus, type Transport, type TransportFactory } from './transport.ts';

/** How a transport opens, drains and closes; part of `transportSuite`. */
export function lifecycleSuite(name: string, factory: TransportFactory, certificate: Certificate | null): void {
  describe(`${name} transport life`, () => {
    const { setUp, stock, cleanups } = suiteSetup(factory, certificate);

    describe('listening', () => {
      it('names the port it got', async () => {
        const { address } = await setUp();

        expect(address).toMatch(/^127\.0\.0\.1:[1-9]\d+$/);
      });

      it('listens on IPv6 and names it in brackets', async () => {
        const { transport } = await setUp();
        const address = await transport.listen({ host: '::1', port: 0 });

        expect(address).toMatch(/^\[::1\]:[1-9]\d+$/);
        expect((await stock(address).unary(ECHO, Buffer.from('x'))).code).toBe(0);
      });

      function freshSocketPath(): string {
        const path = join(tmpdir(), `suite-${randomBytes(6).toString('hex')}.sock`);
        cleanups.push(() => rm(path, { force: true }));
        return path;
      }

      it('listens on a Unix socket and refuses one that is in use', async () => {
        const socketPath = freshSocketPath();
        const { transport } = await setUp();

        const address = await transport.listen({ socketPath });
        expect(address).toBe(`unix:${socketPath}`);
        expect((await stock(address).unary(ECHO, Buffer.from('x'))).code).toBe(0);
        await expect((await setUp()).transport.listen({ socketPath })).rejects.toThrow('already in use');
      });

      it('takes over the file of a Unix socket that nobody listens on', async () => {
        const socketPath = freshSocketPath();
        const before = `${socketPath}.before`;
        const dead = createServer();
        await new Promise<void>((resolve) => dead.listen(before, resolve));
        await rename(before, socketPath);
        await new Promise((resolve) => dead.close(resolve));

        const address = await (await setUp()).transport.listen({ socketPath });

        expect((await stock(address).unary(ECHO, Buffer.from('x'))).code).toBe(0);
      });

      it('rejects when the port is taken, naming it', async () => {
        const { address } = await setUp();
        const other = factory([], { maxReceiveBytes: 1000, onHandlerError: () => undefined });
        cleanups.push(() => other.close());
        const port = Number(address.split(':')[1]);

        await expect(other.listen({ host: '127.0.0.1', port })).rejects.toThrow(
          `cannot listen on 127.0.0.1 port ${port}: address already in use`,
        );
      });
    });

    describe('drain and close', () => {
      async function withOpenCall() {
        const all = await setUp();
        const opened = stock(all.address).stream(SILENT);
        opened.call.write(Buffer.from('x'));
        await until(() => all.silent.calls[0]?.events.length === 1);
        return { ...all, opened };
      }

      async function refusesNewCalls(transport: Transport, address: string): Promise<void> {
        const reply = await stock(address).unary(ECHO, Buffer.from('x'));
        expect(reply.code).toBe(GrpcStatus.unavailable);
        await expect(transport.listen({ host: '127.0.0.1', port: 0 })).rejects.toThrow('closing');
      }

      it('drains: takes no new calls, lets open ones end, then resolves', async () => {
        const { transport, address, opened } = await withOpenCall();
        let drained = false;

        const draining = transport.drain().then(() => {
          drained = true;
        });
        await refusesNewCalls(transport, address);
        expect(drained).toBe(false);
        opened.call.end();

        expect((await opened.done).code).toBe(0);
        await draining;
        expect(transport.openCalls).toBe(0);
      });

      it('counts a connection that has no call open, and not one that is closed', async () => {
        const { transport, address } = await setUp();
        expect(transport.openConnections).toBe(0);
        const client = stock(address);
        await client.unary(ECHO, Buffer.from('x'));

        expect([transport.openConnections, transport.openCalls]).toEqual([1, 0]);
        client.close();
        await until(() => transport.openConnections === 0);
      });

      it('drains at once when nothing is open', async () => {
        const { transport } = await setUp();

        await transport.drain();
      });

      it('closes: ends open calls at once, also in mid drain', async () => {
        const { transport, address, silent, opened } = await withOpenCall();
        const draining = transport.drain();

        await transport.close();

        await draining;
        expect(withoutHalfClose(silent.calls[0]!)).toEqual(['message', 'closed']);
        expect((await opened.done).code).not.toBe(0);
        await refusesNewCalls(transport, address);
        await transport.close();
      });
    });
  });
}
