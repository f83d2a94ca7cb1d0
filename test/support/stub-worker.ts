import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** What a stub worker does with a request: a status, an answer of its own, or silence. */
export type StubAnswer = number | ((request: IncomingMessage, response: ServerResponse) => void) | 'hang' | 'reset';

/** An HTTP server that plays an engine towards probes, and can die and return at its port. */
export class StubWorker {
  health: StubAnswer = 200;
  models: StubAnswer = 404;
  /** Answers of further paths. */
  pages: Readonly<Record<string, StubAnswer>> = {};
  /** Paths asked for, in order. */
  readonly asked: string[] = [];
  /** Headers of the latest request. */
  lastHeaders: IncomingMessage['headers'] = {};
  readonly #host: string;
  readonly #sockets = new Set<Socket>();
  #server: Server | null = null;
  #port = 0;

  private constructor(host: string) {
    this.#host = host;
  }

  static async start(host = '127.0.0.1'): Promise<StubWorker> {
    const worker = new StubWorker(host);
    await worker.returns();
    return worker;
  }

  get port(): number {
    return this.#port;
  }

  get url(): string {
    return `http://${this.#host.includes(':') ? `[${this.#host}]` : this.#host}:${this.#port}`;
  }

  /** Connections open now. */
  get connections(): number {
    return this.#sockets.size;
  }

  count(path: string): number {
    return this.asked.filter((asked) => asked === path).length;
  }

  /** Listens, at the port it had before. */
  async returns(): Promise<void> {
    const server = createServer((request, response) => this.#answer(request, response));
    server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(this.#port, this.#host, resolve);
    });
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no TCP address');
    this.#port = address.port;
    this.#server = server;
  }

  /** Stops listening and resets every connection, as a killed process does. */
  async dies(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    if (server === null) return;
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of this.#sockets) socket.resetAndDestroy();
    await closed;
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url ?? '';
    this.asked.push(path);
    this.lastHeaders = request.headers;
    const answer = this.pages[path] ?? (path === '/v1/models' ? this.models : this.health);
    if (answer === 'hang') return;
    if (answer === 'reset') request.socket.resetAndDestroy();
    else if (typeof answer === 'number') response.writeHead(answer).end('{}');
    else answer(request, response);
  }
}

/** Answer of `/v1/models` with these ids. */
export function listing(...ids: readonly string[]): StubAnswer {
  return json({ object: 'list', data: ids.map((id) => ({ id, object: 'model' })) });
}

export function json(value: unknown): StubAnswer {
  return (_, response) => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}
