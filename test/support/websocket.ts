import { request as httpRequest, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

/** An open WebSocket, or what was answered instead of one. */
export interface WebSocketAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  /** Null when the handshake was refused. */
  readonly socket: Duplex | null;
}

const KEY = { 'sec-websocket-version': '13', 'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==' };

/** Opens a WebSocket by an upgrade of HTTP/1.1 (RFC 6455). */
export function openWebSocket(url: string, more: Readonly<Record<string, string>> = {}): Promise<WebSocketAnswer> {
  return new Promise((resolve, reject) => {
    const headers = { connection: 'upgrade', upgrade: 'websocket', ...KEY, ...more };
    const request = httpRequest(url, { headers, agent: false });
    const answer = (response: IncomingMessage, socket: Duplex | null) =>
      resolve({ status: response.statusCode ?? 0, headers: response.headers, socket });
    request.on('upgrade', (response, socket) => answer(response, socket));
    request.on('response', (response) => {
      response.resume();
      answer(response, null);
    });
    request.on('error', reject);
    request.end();
  });
}

/** Sends a short text frame with a mask of zeros (RFC 6455 5.2) and reads the next frame. */
export function echoed(socket: Duplex, text: string): Promise<string> {
  const frame = Buffer.concat([Buffer.from([0x81, 0x80 | text.length, 0, 0, 0, 0]), Buffer.from(text)]);
  return new Promise((resolve, reject) => {
    socket.once('data', (chunk: Buffer) => resolve(chunk.subarray(2).toString()));
    socket.once('error', reject);
    socket.write(frame);
  });
}
