import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export type EngineKind = 'vllm' | 'sglang';

/** A request as the engine got it, its body read whole. */
export interface Got {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of any shape
  readonly json: any;
}

export type Answer = (response: ServerResponse, got: Got, request: IncomingMessage) => void;

export interface SplitEngineOptions {
  readonly name: string;
  readonly kind: EngineKind;
  readonly model: string;
  /** Data-parallel ranks that it tells; 0 for none. */
  readonly ranks?: number;
}

/** One leg of a split engine, played over HTTP: keeps what it got, and answers as it is told. */
export class SplitEngine {
  readonly name: string;
  readonly got: Got[] = [];
  /** Requests whose client left before the answer was over. */
  left = 0;
  /** Of requests that are work. */
  answer: Answer;
  readonly #options: SplitEngineOptions;
  readonly #sockets = new Set<Socket>();
  readonly #running = new Set<ServerResponse>();
  #server: Server | null = null;
  #port = 0;

  private constructor(options: SplitEngineOptions) {
    this.#options = options;
    this.name = options.name;
    this.answer = this.usual;
  }

  static async start(options: SplitEngineOptions): Promise<SplitEngine> {
    const engine = new SplitEngine(options);
    await engine.returns();
    return engine;
  }

  get address(): string {
    return `127.0.0.1:${this.#port}`;
  }

  get url(): string {
    return `http://${this.address}`;
  }

  /** Requests that are work and wait for their answer. */
  get running(): number {
    return this.#running.size;
  }

  get last(): Got | undefined {
    return this.got.at(-1);
  }

  /** As an engine answers: a prefill of vLLM names its cache, and a stream is a stream. */
  readonly usual: Answer = (response, { json }) => {
    response.setHeader('x-engine', this.name);
    if (json?.stream === true) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end('data: {"choices":[]}\n\ndata: [DONE]\n\n');
      return;
    }
    const wantsCache = json?.kv_transfer_params?.do_remote_decode === true;
    const kv = wantsCache ? { kv_transfer_params: { remote_engine_id: this.name, remote_block_ids: [1, 2] } } : {};
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ id: this.name, ...kv }));
  };

  async returns(): Promise<void> {
    const server = createServer((request, response) => void this.#serve(request, response));
    server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(this.#port, '127.0.0.1', resolve);
    });
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  /** As a killed process. */
  async dies(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    if (server === null) return;
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of this.#sockets) socket.resetAndDestroy();
    await closed;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? '';
    const { kind, model, ranks = 0 } = this.#options;
    if (request.method === 'GET') {
      const info = ranks > 0 ? { dp_size: ranks } : {};
      const pages: Readonly<Record<string, object>> = {
        '/health': {},
        '/v1/models': { data: [{ id: model, owned_by: kind }] },
        ...(kind === 'vllm' ? { '/version': { version: '1' } } : { '/server_info': { version: '1', ...info } }),
      };
      const page = pages[path];
      response.writeHead(page === undefined ? 404 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(page ?? {}));
      return;
    }
    this.#running.add(response);
    response.once('close', () => {
      this.#running.delete(response);
      if (!response.writableFinished) this.left += 1;
    });
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    } catch {
      return; // the client left
    }
    const text = Buffer.concat(chunks).toString();
    const got = { path, headers: request.headers, text, json: jsonIn(text) };
    this.got.push(got);
    this.answer(response, got, request);
  }
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

export const failing =
  (status: number, message = 'injected'): Answer =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ error: { message } }));

/** Never answers. */
export const hanging: Answer = () => {};

export const resetting: Answer = (_, __, request) => request.socket.resetAndDestroy();

/** Sends the first event of a stream, and no more. */
export const beginning: Answer = (response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: {}\n\n');
};

/** Waits before it does. */
export const after =
  (ms: number, answer: Answer): Answer =>
  (response, got, request) =>
    void setTimeout(() => answer(response, got, request), ms);
