import http2 from 'node:http2';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { Client, credentials, type Metadata, type ServiceError } from '@grpc/grpc-js';
import type { Call, CallHandler, Method } from './transport.ts';

/** Clients and services that the suite puts at both ends of a transport. */

const identity = (bytes: Buffer): Buffer => bytes;

/** What the certificate of a transport is for, whatever its address. */
export const SERVER_NAME = 'localhost';

/** Waits for a condition without a fixed delay. */
export async function until(condition: () => boolean, what = 'condition', timeoutMs = 10_000): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error(`timed out waiting for ${what}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** What one call of a recorded method saw. */
export interface Seen {
  readonly call: Call;
  readonly events: string[];
  readonly messages: Buffer[];
}

/** A reset may be told as a half-close before the close: transport.ts leaves it open. */
export const withoutHalfClose = (seen: Seen): string[] => seen.events.filter((event) => event !== 'halfClosed');

type Act = (seen: Seen, event: 'open' | 'message' | 'halfClosed' | 'closed', bytes: Buffer | null) => void;

/** A method that notes every event of every call, then lets `act` answer. */
export class RecordedMethod implements Method {
  readonly path: string;
  readonly calls: Seen[] = [];
  readonly #act: Act;

  constructor(path: string, act: Act) {
    this.path = path;
    this.#act = act;
  }

  open(call: Call): CallHandler {
    const seen: Seen = { call, events: [], messages: [] };
    this.calls.push(seen);
    this.#act(seen, 'open', null);
    return {
      message: (bytes) => {
        seen.events.push('message');
        seen.messages.push(bytes);
        this.#act(seen, 'message', bytes);
      },
      halfClosed: () => {
        seen.events.push('halfClosed');
        this.#act(seen, 'halfClosed', null);
      },
      closed: () => {
        seen.events.push('closed');
        this.#act(seen, 'closed', null);
      },
    };
  }
}

export interface Reply {
  readonly messages: Buffer[];
  readonly code: number;
  readonly details: string;
}

/** A stock grpc-js client that speaks bytes. */
export class StockClient {
  readonly #client: Client;

  /** @param ca the certificate to trust, PEM; null: in plain text */
  constructor(address: string, ca: string | null = null) {
    const security = ca === null ? credentials.createInsecure() : credentials.createSsl(Buffer.from(ca));
    this.#client = new Client(address, security, {
      'grpc.max_receive_message_length': -1,
      'grpc.max_send_message_length': -1,
      'grpc.use_local_subchannel_pool': 1,
      ...(ca === null ? {} : { 'grpc.ssl_target_name_override': SERVER_NAME }),
    });
  }

  stream(path: string, metadata?: Metadata) {
    const call =
      metadata === undefined
        ? this.#client.makeBidiStreamRequest(path, identity, identity)
        : this.#client.makeBidiStreamRequest(path, identity, identity, metadata);
    const messages: Buffer[] = [];
    const done = new Promise<Reply>((resolve) => {
      call.on('data', (bytes: Buffer) => messages.push(bytes));
      call.on('error', () => undefined);
      call.on('status', (status) => resolve({ messages, code: status.code, details: status.details }));
    });
    return { call, messages, done };
  }

  unary(path: string, message: Buffer): Promise<Reply> {
    return new Promise((resolve) => {
      this.#client.makeUnaryRequest(path, identity, identity, message, (error: ServiceError | null, reply?: Buffer) => {
        resolve({
          messages: reply === undefined ? [] : [reply],
          code: error?.code ?? 0,
          details: error?.details ?? '',
        });
      });
    });
  }

  close(): void {
    this.#client.close();
  }
}

/** One gRPC frame around a message. */
export function framed(message: Uint8Array, declaredLength = message.length): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(declaredLength, 1);
  return Buffer.concat([head, message]);
}

/** A bare HTTP/2 connection, for what a well-behaved client never does. */
export class RawClient {
  readonly session: http2.ClientHttp2Session;
  readonly #socket: Socket;
  goneAway = false;

  /** @param ca the certificate to trust, PEM; null: in plain text */
  constructor(address: string, ca: string | null = null) {
    const { hostname, port } = new URL(`http://${address}`);
    const at = { host: hostname, port: Number(port) };
    this.#socket =
      ca === null ? connect(at) : connectTls({ ...at, ca, servername: SERVER_NAME, ALPNProtocols: ['h2'] });
    this.session = http2.connect(`http://${address}`, { createConnection: () => this.#socket });
    this.session.on('error', () => undefined);
    this.session.on('goaway', () => {
      this.goneAway = true;
    });
  }

  open(path: string, headers: http2.OutgoingHttpHeaders = {}): http2.ClientHttp2Stream {
    const stream = this.session.request({
      ':method': 'POST',
      ':path': path,
      'content-type': 'application/grpc',
      te: 'trailers',
      ...headers,
    });
    stream.on('error', () => undefined);
    return stream;
  }

  /** Cuts the connection without a word. */
  dropConnection(): void {
    this.#socket.destroy();
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      if (this.session.destroyed) resolve();
      else {
        this.session.once('close', () => resolve());
        this.session.destroy();
      }
    });
  }
}
