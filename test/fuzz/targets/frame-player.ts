/** Plays bytes into a connection of ours, and holds its handlers and its observer to their promises. */
import { Connection, type ConnectionObserver } from '../../../src/transport/http2/connection.ts';
import type { Http2Limits } from '../../../src/transport/http2/limits.ts';
import { MessageMemory } from '../../../src/transport/http2/message-memory.ts';
import type { Call, CallHandler, Method } from '../../../src/transport/transport.ts';
import { fail, same } from '../lib/expect.ts';
import { FakeSocket } from './fake-socket.ts';
import { PATHS } from './frame-grammar.ts';

export const MAX_MESSAGE = 64 * 1024;
const LARGE = Buffer.alloc(70_000, 7);
const NOW = 1000;
/** Milliseconds after the last byte: before and after each of the time limits. */
const LATER = [500, 11_000, 31_000, 50_000, 70_000];

export class Player implements ConnectionObserver {
  readonly socket: FakeSocket;
  readonly connection: Connection;
  /** What each call saw, in the order in which the calls opened. */
  readonly calls: string[][] = [];
  readonly limits: string[] = [];
  goAways = 0;
  #opened = 0;
  #closed = 0;
  #thrown = 0;

  constructor(limits: Http2Limits, clogged: boolean) {
    this.socket = new FakeSocket(clogged);
    const methods = new Map(PATHS.map((path) => [path, this.#method(path)]));
    this.connection = new Connection(
      this.socket.socket,
      { methods, limits, maxMessageBytes: MAX_MESSAGE, memory: new MessageMemory(), observer: this },
      NOW,
    );
  }

  /** Begins to drain, between two turns as a service does. */
  async drain(): Promise<void> {
    await turn();
    this.connection.drain();
    await turn();
  }

  /** The end of the socket. All calls have to be over then. @param waits so long that every patience ends */
  async finish(waits: boolean): Promise<void> {
    await turn();
    if (waits) {
      for (const later of LATER) this.connection.tick(NOW + later);
      await turn();
    }
    if (this.socket.clogged) {
      while (this.socket.drain()) {
        this.connection.writable();
        await turn();
      }
    }
    this.connection.lost();
    await turn();
    for (const seen of this.calls) {
      if (seen.at(-1) !== 'closed') fail('an opened call is closed at the end', seen);
    }
    same('as many calls closed as opened', this.#closed, this.#opened);
  }

  handlerFailed(path: string): void {
    if (path !== '/f/throw' && path !== '/f/broken') fail('a handler failed that cannot', path);
    this.#thrown += 1;
  }

  limitReached(limit: string): void {
    this.limits.push(limit);
  }

  callOpened(): void {
    this.#opened += 1;
  }

  callClosed(): void {
    this.#closed += 1;
  }

  resetReceived(): void {}

  goAwaySent(): void {
    this.goAways += 1;
  }

  broke(error: unknown): void {
    fail(`the connection broke: ${error instanceof Error ? error.stack : String(error)}`);
  }

  #method(path: string): Method {
    return {
      path,
      open: (call) => {
        if (path === '/f/broken') throw new Error('not today');
        const seen: string[] = [path];
        this.calls.push(seen);
        if (path === '/f/early') call.end(5, 'früh: 50 %');
        return new Handler(path, call, seen);
      },
    };
  }
}

export class Handler implements CallHandler {
  readonly #path: string;
  readonly #call: Call;
  readonly #seen: string[];

  constructor(path: string, call: Call, seen: string[]) {
    this.#path = path;
    this.#call = call;
    this.#seen = seen;
  }

  message(bytes: Buffer): void {
    this.#alive('message');
    if (this.#seen.includes('half')) fail('a message after the end of the client');
    if (bytes.length > MAX_MESSAGE) fail('a message above the limit', bytes.length);
    this.#seen.push(`message ${bytes.length} ${bytes[0] ?? 0}`);
    const call = this.#call;
    switch (this.#path) {
      case '/f/echo':
        call.send(bytes);
        break;
      case '/f/first':
        call.send(bytes);
        call.end();
        call.send(bytes);
        call.end(2, 'twice');
        break;
      case '/f/throw':
        if (bytes.length % 2 === 1) throw new Error('odd');
        break;
      case '/f/large':
        call.send(LARGE);
        break;
    }
  }

  halfClosed(): void {
    this.#alive('half');
    if (this.#seen.includes('half')) fail('the end of the client, twice');
    this.#seen.push('half');
    if (this.#path !== '/f/never') this.#call.end();
  }

  closed(): void {
    this.#alive('closed');
    this.#seen.push('closed');
    // Nothing comes of it.
    this.#call.send(LARGE);
    this.#call.end();
  }

  #alive(what: string): void {
    if (this.#seen.includes('closed')) fail(`${what} after the end of the call`, this.#seen);
  }
}

/** What was put off to the end of the turn. */
export async function turn(): Promise<void> {
  for (let i = 0; i < 2; i++) await new Promise<void>((resolve) => process.nextTick(resolve));
}
