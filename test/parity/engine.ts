import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { engineReply } from './engine-replies.ts';
import { type Holds, readMark, type SideName } from './marks.ts';

/** What an engine tells of its load, as SGLang's `/v1/loads` does; a member left out is 0. */
export interface EngineReport {
  readonly waiting?: number;
  /** Waiting tokens that no cache holds. */
  readonly tokens?: number;
  /** KV usage, 0 to 1. */
  readonly usage?: number;
  /** Tokens per second. */
  readonly throughput?: number;
}

/** A request as an engine received it. */
export interface SeenRequest {
  /** Index of the engine. */
  readonly engine: number;
  readonly side: SideName;
  /** Number of the step that sent it, and of the request within the step. */
  readonly step: string;
  readonly path: string;
  readonly body: string;
  readonly headers: IncomingMessage['headers'];
}

/** What the engines of a fleet have in common. */
export interface Shared {
  readonly holds: Holds;
  /** Requests in the order of arrival. */
  readonly log: SeenRequest[];
}

/** An engine that serves both sides at once from one address. */
export class Engine {
  readonly index: number;
  readonly url: string;
  models: readonly string[];
  /** Status of `/health`. */
  health = 200;
  /** Status of every answer to a request; null when all is well. */
  fails: number | null = null;
  /** What it tells of its load; null when it has no such route. */
  report: EngineReport | null = null;
  /** Answers to the question for its load, by who asked. */
  readonly polls: Record<SideName, number> = { smg: 0, ours: 0 };
  readonly #shared: Shared;
  readonly #sockets = new Set<Socket>();
  readonly #asking: (() => void)[] = [];
  #frozen = false;
  readonly #server: Server;

  private constructor(index: number, port: number, models: readonly string[], shared: Shared) {
    this.index = index;
    this.url = `http://127.0.0.1:${port}`;
    this.models = models;
    this.#shared = shared;
    this.#server = createServer({ keepAliveTimeout: 120_000 }, (request, response) => this.#take(request, response));
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
  }

  static async start(index: number, port: number, models: readonly string[], shared: Shared): Promise<Engine> {
    const engine = new Engine(index, port, models, shared);
    await new Promise<void>((resolve, reject) => {
      engine.#server.once('error', reject);
      engine.#server.listen(port, '127.0.0.1', resolve);
    });
    return engine;
  }

  /** Leaves the question for its load without an answer, so that both sides keep the report they have. */
  freeze(): void {
    this.#frozen = true;
  }

  thaw(): void {
    this.#frozen = false;
    for (const answer of this.#asking.splice(0)) answer();
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (request.method === 'GET') this.#probe(request, response);
      else void this.#answer(request, Buffer.concat(chunks).toString('utf8'), response);
    });
  }

  #probe(request: IncomingMessage, response: ServerResponse): void {
    const path = (request.url ?? '').split('?')[0];
    if (path === '/health') respond(response, this.health, {});
    else if (path === '/v1/models') respond(response, 200, modelList(this.models));
    else if (path === '/v1/loads' && this.report !== null) this.#tellLoad(request, response);
    else respond(response, 404, {});
  }

  #tellLoad(request: IncomingMessage, response: ServerResponse): void {
    if (this.#frozen) {
      this.#asking.push(() => this.#tellLoad(request, response));
      return;
    }
    // Node names the fate of its connection in each request, SMG never does.
    this.polls[request.headers.connection === undefined ? 'smg' : 'ours']++;
    respond(response, 200, loadReport(this.report ?? {}));
  }

  async #answer(request: IncomingMessage, body: string, response: ServerResponse): Promise<void> {
    const path = request.url ?? '';
    const mark = readMark(request.headers);
    const { log, holds } = this.#shared;
    log.push({ engine: this.index, side: mark.side, step: mark.step, path, body, headers: request.headers });
    response.setHeader('x-engine', String(this.index));
    const { fails } = this;
    if (fails !== null) return respond(response, fails, { error: { message: 'the engine failed', code: 'engine' } });
    if (mark.hold !== '') await holds.wait(mark.hold);
    respond(response, 200, engineReply(path, body));
  }
}

function respond(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

function modelList(models: readonly string[]): unknown {
  return {
    object: 'list',
    data: models.map((id) => ({ id, object: 'model', created: 1, owned_by: 'vllm', root: id })),
  };
}

function loadReport({ waiting = 0, tokens = 0, usage = 0, throughput = 0 }: EngineReport): unknown {
  const rank = {
    dp_rank: 0,
    num_running_reqs: 0,
    num_waiting_reqs: waiting,
    num_waiting_uncached_tokens: tokens,
    num_total_reqs: waiting,
    num_used_tokens: 0,
    max_total_num_tokens: 65_536,
    token_usage: usage,
    gen_throughput: throughput,
    cache_hit_rate: 0,
    utilization: 0,
    max_running_requests: 64,
  };
  return { timestamp: '2026-01-01T00:00:00Z', version: '0.5.0', dp_rank_count: 1, loads: [rank] };
}
