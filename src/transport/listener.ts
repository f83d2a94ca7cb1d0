import { unlink } from 'node:fs/promises';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { listenError } from '../util/listen-error.ts';
import { openTlsPort } from './tls-port.ts';
import type { HandshakeFailure, ListenAddress, TlsOptions } from './transport.ts';

/** An open port and the connections that came through it. */
export interface Listener {
  /** The address as clients name it: `host:port` or `unix:path`. */
  readonly name: string;
  /** Connections that are open now. */
  readonly connections: number;
  /** For a port with TLS: what counts from the next handshake on. */
  renewTls(tls: TlsOptions): void;
  /** Accepts no more connections; those that are open stay. */
  stop(): void;
  /** Stops, drops every connection and resolves when all of them are gone. */
  close(): Promise<void>;
}

/** How a port speaks TLS, and who is told of handshakes that fail. */
export interface Secured {
  readonly tls: TlsOptions;
  readonly failed: (reason: HandshakeFailure) => void;
}

/**
 * Opens a TCP port or Unix socket and hands each connection to `onConnection`.
 *
 * Rejects with a message that names the address when it is taken or cannot be had. The file of a Unix socket that nobody
 * listens on any more, as a killed process leaves it, is replaced.
 */
export async function openListener(
  address: ListenAddress,
  secured: Secured | null,
  onConnection: (socket: Socket) => void,
): Promise<Listener> {
  const sockets = new Set<Socket>();
  const port = secured === null ? null : openTlsPort({ ...secured, secured: onConnection });
  const server = createServer({ noDelay: true }, port === null ? onConnection : (raw) => port.accept(raw));
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });

  try {
    await listen(server, address);
  } catch (error) {
    if (!(await removeDeadSocket(address, error))) throw failure(address, error);
    await listen(server, address).catch((again: unknown) => {
      throw failure(address, again);
    });
  }

  let closed: Promise<void> | null = null;
  const stop = (): Promise<void> => {
    closed ??= new Promise((resolve) => server.close(() => resolve()));
    return closed;
  };

  return {
    name: nameOf(server, address),
    get connections() {
      return sockets.size;
    },
    renewTls: (tls) => port?.renew(tls),
    stop: () => void stop(),
    close: () => {
      const done = stop();
      for (const socket of sockets) socket.destroy();
      return done;
    },
  };
}

function listen(server: Server, address: ListenAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen('socketPath' in address ? { path: address.socketPath } : address, () => {
      server.off('error', reject);
      // A connection that could not be accepted, as when no descriptor is free, is the client's to try again.
      server.on('error', () => undefined);
      resolve();
    });
  });
}

function nameOf(server: Server, address: ListenAddress): string {
  if ('socketPath' in address) return `unix:${address.socketPath}`;
  const bound = server.address();
  const port = typeof bound === 'object' && bound !== null ? bound.port : address.port;
  return address.host.includes(':') ? `[${address.host}]:${port}` : `${address.host}:${port}`;
}

async function removeDeadSocket(address: ListenAddress, error: unknown): Promise<boolean> {
  if (!('socketPath' in address) || codeOf(error) !== 'EADDRINUSE') return false;
  if (!(await refusesConnections(address.socketPath))) return false;
  await unlink(address.socketPath).catch(() => undefined);
  return true;
}

function refusesConnections(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createConnection({ path });
    probe.once('connect', () => {
      probe.destroy();
      resolve(false);
    });
    probe.once('error', (error) => resolve(codeOf(error) === 'ECONNREFUSED'));
  });
}

function failure(address: ListenAddress, error: unknown): Error {
  const place = 'socketPath' in address ? `unix:${address.socketPath}` : `${address.host} port ${address.port}`;
  return listenError(place, error);
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}
