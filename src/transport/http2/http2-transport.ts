import type { Socket } from 'node:net';
import { type Listener, openListener, type Secured } from '../listener.ts';
import type { ListenAddress, Method, TlsOptions, Transport, TransportFactory, TransportOptions } from '../transport.ts';
import { Connection, type ConnectionObserver, type ConnectionParts } from './connection.ts';
import { DEFAULT_LIMITS, type Http2Limits, type LimitName } from './limits.ts';
import { MessageMemory } from './message-memory.ts';
import { readingIntoSharedMemory } from './shared-reads.ts';

const TICK_MS = 1000;

/** The transport on our own HTTP/2: the default. */
export const http2Transport: TransportFactory = (methods, options) => new Http2Transport(methods, options);

/** The same with other limits. */
export function http2TransportWith(limits: Partial<Http2Limits>): TransportFactory {
  return (methods, options) => new Http2Transport(methods, options, { ...DEFAULT_LIMITS, ...limits });
}

class Http2Transport implements Transport, ConnectionObserver {
  readonly #options: TransportOptions;
  readonly #parts: ConnectionParts;
  readonly #listeners: Listener[] = [];
  readonly #connections = new Set<Connection>();
  readonly #whenIdle: (() => void)[] = [];
  #ticks: NodeJS.Timeout | null = null;
  #tls: TlsOptions | null;
  #openCalls = 0;
  #closing = false;

  constructor(methods: readonly Method[], options: TransportOptions, limits: Http2Limits = DEFAULT_LIMITS) {
    this.#options = options;
    this.#tls = options.tls ?? null;
    this.#parts = {
      methods: new Map(methods.map((method) => [method.path, method])),
      limits,
      maxMessageBytes: options.maxReceiveBytes,
      memory: new MessageMemory(),
      observer: this,
    };
  }

  get openCalls(): number {
    return this.#openCalls;
  }

  get openConnections(): number {
    return this.#listeners.reduce((sum, { connections }) => sum + connections, 0);
  }

  async listen(address: ListenAddress): Promise<string> {
    if (this.#closing) throw new Error('the transport is closing');
    const listener = await openListener(address, this.#secured(), (socket) => this.#accept(socket));
    this.#listeners.push(listener);
    return listener.name;
  }

  renewTls(tls: TlsOptions): void {
    this.#tls = tls;
    for (const listener of this.#listeners) listener.renewTls(tls);
  }

  drain(): Promise<void> {
    this.#stopAccepting();
    for (const connection of this.#connections) connection.drain();
    return this.#idle();
  }

  async close(): Promise<void> {
    this.#stopAccepting();
    for (const connection of this.#connections) connection.close();
    await Promise.all(this.#listeners.map((listener) => listener.close()));
    await this.#idle();
    this.#stopTicks();
  }

  handlerFailed(path: string, error: unknown): void {
    this.#options.onHandlerError(path, error);
  }

  limitReached(limit: LimitName): void {
    this.#options.observer?.limitReached(limit);
  }

  resetReceived(): void {
    this.#options.observer?.resetReceived();
  }

  goAwaySent(): void {
    this.#options.observer?.goAwaySent();
  }

  broke(error: unknown): void {
    this.#options.onHandlerError('the connection', error);
  }

  callOpened(): void {
    this.#openCalls += 1;
  }

  callClosed(): void {
    this.#openCalls -= 1;
    if (this.#openCalls > 0) return;
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  #accept(accepted: Socket): void {
    const socket = readingIntoSharedMemory(accepted, (piece) => connection.read(piece, performance.now()));
    const connection = new Connection(socket, this.#parts, performance.now());
    this.#connections.add(connection);
    this.#ticks ??= setInterval(() => this.#tick(), TICK_MS).unref();
    socket.on('drain', () => connection.writable());
    // What fails on a socket closes it; that is all there is to know.
    socket.on('error', () => undefined);
    socket.on('end', () => connection.lost());
    socket.on('close', () => {
      connection.lost();
      this.#connections.delete(connection);
      if (this.#connections.size === 0) this.#stopTicks();
    });
    if (this.#closing) connection.drain();
  }

  #tick(): void {
    const now = performance.now();
    for (const connection of this.#connections) connection.tick(now);
  }

  #stopTicks(): void {
    if (this.#ticks !== null) clearInterval(this.#ticks);
    this.#ticks = null;
  }

  #secured(): Secured | null {
    if (this.#tls === null) return null;
    return { tls: this.#tls, failed: (reason) => this.#options.observer?.handshakeFailed(reason) };
  }

  #stopAccepting(): void {
    this.#closing = true;
    for (const listener of this.#listeners) listener.stop();
  }

  #idle(): Promise<void> {
    if (this.#openCalls === 0) return Promise.resolve();
    return new Promise((resolve) => this.#whenIdle.push(resolve));
  }
}
