import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { listenError } from '../util/listen-error.ts';
import type { AdminApp } from './admin-app.ts';

export interface AdminServer {
  /** `HOST:PORT` with the real port, IPv6 in brackets. */
  readonly address: string;
  /** Stops accepting, lets running answers end for a moment, resolves when every connection is gone. */
  close(): Promise<void>;
}

/** How long an answer may still run once the server closes. */
const CLOSE_GRACE_MS = 1000;

/** Serves an application on a TCP port (0: any free one). Rejects as `listenError` tells. */
export async function listenAdmin(app: AdminApp, host: string, port: number): Promise<AdminServer> {
  // Without options for HTTP/2 or TLS the adaptor makes a plain server. The global Request and Response stay Node's own.
  const server = createAdaptorServer({ fetch: app.fetch, overrideGlobalObjects: false }) as Server;
  await new Promise<void>((resolve, reject) => {
    // Stays: an error after the start is a connection that could not be accepted, which is the client's to try again.
    server.on('error', (error) => reject(listenError(`${host} port ${port}`, error)));
    server.listen(port, host, resolve);
  });
  const bound = server.address() as AddressInfo; // TCP, as a port was given
  return { address: `${bracketed(bound)}:${bound.port}`, close: () => close(server) };
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const end = setTimeout(() => server.closeAllConnections(), CLOSE_GRACE_MS);
    server.close(() => {
      clearTimeout(end);
      resolve();
    });
  });
}

function bracketed({ address, family }: AddressInfo): string {
  return family === 'IPv6' ? `[${address}]` : address;
}
