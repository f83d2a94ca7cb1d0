import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { acceptEcho } from '../../src/sim/websocket-echo.ts';
import { sha256 } from './bodies.ts';

/** Requests of this id fail once, at whichever worker gets them first. */
export const FAIL_ONCE = 'x-fail-once';
/** The worker sends 103 before its answer. */
export const EARLY_HINTS = 'x-early-hints';

/** A worker that tells in headers what it got of a request. */
export interface ReflectingWorker {
  readonly name: string;
  readonly url: string;
  close(): void;
}

/** @param failed ids of {@link FAIL_ONCE} that had their failure, shared by all workers of a fleet */
export async function reflectingWorker(name: string, failed: Set<string>): Promise<ReflectingWorker> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((request, response) => void reflect(name, failed, request, response));
  server.on('upgrade', (request, socket, head) => acceptEcho(request, socket, head, name));
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    name,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

async function reflect(name: string, failed: Set<string>, request: IncomingMessage, response: ServerResponse) {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  const once = request.headers[FAIL_ONCE];
  response.setHeader('x-sim-worker', name);
  if (typeof once === 'string' && !failed.has(once)) {
    failed.add(once);
    return void response.writeHead(503).end();
  }
  if (request.headers[EARLY_HINTS] !== undefined) response.writeEarlyHints({ link: '</style.css>; rel=preload' });
  response.setHeader('x-sim-body-sha256', sha256(body));
  response.setHeader('x-model', modelIn(body));
  response.setHeader('x-got-trailers', JSON.stringify(request.trailers));
  response.end('{}');
}

function modelIn(body: Buffer): string {
  try {
    return String((JSON.parse(body.toString()) as { model?: unknown }).model);
  } catch {
    return '';
  }
}
