import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { until } from '../../../test/support/until.ts';
import { readingIntoSharedMemory } from './shared-reads.ts';

interface Seen {
  readonly accepted: Socket;
  readonly socket: Socket;
  readonly pieces: string[];
  readonly memory: Set<ArrayBufferLike>;
  ended: boolean;
  closed: boolean;
}

describe('reads of a connection that was accepted', () => {
  const seen: Seen[] = [];
  let server: Server | undefined;
  afterEach(async () => {
    for (const { accepted } of seen.splice(0)) accepted.destroy();
    await new Promise((resolve) => (server?.listening ? server.close(resolve) : resolve(undefined)));
  });

  async function opened(): Promise<{ client: Socket; at: Seen }> {
    server ??= createServer({ noDelay: true }, (accepted) => {
      const one: Omit<Seen, 'socket'> = { accepted, pieces: [], memory: new Set(), ended: false, closed: false };
      const socket = readingIntoSharedMemory(accepted, (piece) => {
        one.pieces.push(String(piece));
        one.memory.add(piece.buffer);
      });
      const all = Object.assign(one, { socket });
      socket.on('error', () => undefined);
      socket.on('end', () => {
        all.ended = true;
      });
      socket.on('close', () => {
        all.closed = true;
      });
      seen.push(all);
    });
    if (!server.listening) await once(server.listen(0, '127.0.0.1'), 'listening');
    const before = seen.length;
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    client.on('error', () => undefined);
    await once(client, 'connect');
    await soon(() => seen.length > before);
    const at = seen.at(-1);
    if (at === undefined) throw new Error('not accepted');
    return { client, at };
  }

  it('go to one memory, whatever the connection', async () => {
    const [one, two] = [await opened(), await opened()];
    one.client.write('first');
    two.client.write('second');
    await soon(() => one.at.pieces.length === 1 && two.at.pieces.length === 1);
    one.client.write('third');
    await soon(() => one.at.pieces.length === 2);

    expect(one.at.pieces).toEqual(['first', 'third']);
    expect(two.at.pieces).toEqual(['second']);
    expect(new Set([...one.at.memory, ...two.at.memory]).size).toBe(1);
  });

  it('bring a long text whole and in order', async () => {
    const { client, at } = await opened();
    const text = Array.from({ length: 100_000 }, (_, i) => `${i},`).join('');
    client.write(text);

    await soon(() => at.pieces.reduce((sum, { length }) => sum + length, 0) === text.length);
    expect(at.pieces.join('') === text).toBe(true);
  });

  it('stop while it is paused', async () => {
    const { client, at } = await opened();
    at.socket.pause();
    client.write('x'.repeat(8 * 1024 * 1024));
    await soon(() => client.writableLength > 0);
    const before = at.pieces.length;
    await new Promise((resolve) => setImmediate(resolve));
    expect(at.pieces.length).toBe(before);

    at.socket.resume();

    await soon(() => at.pieces.reduce((sum, { length }) => sum + length, 0) === 8 * 1024 * 1024);
  });

  it('end and close with the peer', async () => {
    const { client, at } = await opened();
    client.end('last');

    await soon(() => at.closed && at.accepted.destroyed);
    expect(at.pieces).toEqual(['last']);
    expect(at.ended).toBe(true);
  });

  it('close when the peer is gone', async () => {
    const { client, at } = await opened();
    client.resetAndDestroy();

    await soon(() => at.closed && at.accepted.destroyed);
  });

  it('end when the server drops the connection it knows, and lets it close', async () => {
    const { client, at } = await opened();
    const gone = once(client, 'close');
    at.accepted.destroy();

    await gone;
    await soon(() => at.closed);
    await new Promise((resolve) => server?.close(resolve));
    expect(await connections(server)).toBe(0);
  });

  it('answer on the same connection', async () => {
    const { client, at } = await opened();
    at.socket.write('hello');

    const [answer] = (await once(client, 'data')) as [Buffer];
    expect(String(answer)).toBe('hello');
    expect(at.socket).not.toBe(at.accepted);
  });

  it('come as usual where there is no connection to move', () => {
    const accepted = new Socket();
    const pieces: string[] = [];

    const socket = readingIntoSharedMemory(accepted, (piece) => pieces.push(String(piece)));

    socket.emit('data', Buffer.from('x'));
    expect(socket).toBe(accepted);
    expect(pieces).toEqual(['x']);
  });
});

/** Sockets tell by events that have come by then. */
const soon = (probe: () => boolean) => until(probe, 'what the socket does');

function connections(server: Server | undefined): Promise<number> {
  return new Promise((resolve, reject) =>
    server?.getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
  );
}
