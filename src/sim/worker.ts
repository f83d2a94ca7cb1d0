import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { answerEvents, answerWhole } from './answer.ts';
import { readAsk } from './ask.ts';
import type { Certificate } from './certificate.ts';
import { type Counters, newTally, type Tally } from './counters.ts';
import { ENDPOINTS, type Endpoint } from './endpoints.ts';
import { engineMetrics } from './engine-metrics.ts';
import { type Knobs, readKnobs } from './knobs.ts';
import { receiveBody } from './received-body.ts';
import { prefillOf, withCache } from './split-engine.ts';
import { acceptEcho } from './websocket-echo.ts';

/** Keep-alive of uvicorn, which most engines run on, in milliseconds. */
const KEEP_ALIVE_MS = 5000;
/** Its limit of a request head; Node's is a quarter of it. */
const MAX_HEADER_BYTES = 65_536;

export interface SimWorkerOptions {
  /** Value of `x-sim-worker` on every answer. */
  readonly name: string;
  readonly host: string;
  /** 0 takes any free port, and keeps it over a restart. */
  readonly port: number;
  readonly knobs: Knobs;
  readonly random: () => number;
  /** What it shows to clients, which then speak TLS to it. */
  readonly certificate?: Certificate | undefined;
}

/** One simulated inference worker. */
export class SimWorker {
  readonly name: string;
  readonly #host: string;
  readonly #random: () => number;
  readonly certificate: Certificate | undefined;
  readonly #sockets = new Set<Socket>();
  #port: number;
  #knobs: Knobs;
  #tally: Tally = newTally();
  #server: Server | undefined;

  constructor(options: SimWorkerOptions) {
    this.name = options.name;
    this.#host = options.host;
    this.#port = options.port;
    this.#knobs = options.knobs;
    this.#random = options.random;
    this.certificate = options.certificate;
  }

  /** `host:port`, IPv6 in brackets. */
  get address(): string {
    return `${this.#host.includes(':') ? `[${this.#host}]` : this.#host}:${this.#port}`;
  }

  get url(): string {
    return `${this.certificate === undefined ? 'http' : 'https'}://${this.address}`;
  }

  get seen(): Counters {
    return { ...this.#tally };
  }

  get knobs(): Knobs {
    return this.#knobs;
  }

  /** Changes behaviour for requests that arrive from now on. */
  set(change: Partial<Knobs>): void {
    this.#knobs = { ...this.#knobs, ...change };
  }

  /** Starts to listen; counters begin at zero. Rejects when the address is taken. */
  async start(): Promise<void> {
    if (this.#server !== undefined) return;
    const limits = { keepAliveTimeout: KEEP_ALIVE_MS, noDelay: true, maxHeaderSize: MAX_HEADER_BYTES };
    const certificate = this.certificate;
    const server = certificate === undefined ? createServer(limits) : createTlsServer({ ...limits, ...certificate });
    server.on('request', (request, response) => void this.#serve(request, response));
    server.on('upgrade', (request: IncomingMessage, socket, head: Buffer) => {
      this.#note(request, 0, '');
      const tally = this.#tally;
      tally.running++;
      socket.once('close', () => {
        tally.running--;
        tally.completed++;
      });
      acceptEcho(request, socket, head, this.name);
    });
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(this.#port, this.#host, () => {
        server.off('error', reject);
        resolve();
      });
    });
    this.#port = (server.address() as AddressInfo).port; // a TCP server has no other kind of address
    this.#tally = newTally();
    this.#server = server;
  }

  /** Dies as a killed process does: the port refuses, running answers break off. Another call does nothing. */
  async kill(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const socket of this.#sockets) socket.resetAndDestroy();
    await closed;
  }

  /** Comes back at the same address. */
  async restart(): Promise<void> {
    await this.kill();
    await this.start();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
    response.setHeader('x-sim-worker', this.name);
    const endpoint = request.method === 'POST' ? ENDPOINTS.get(path) : undefined;
    try {
      if (endpoint !== undefined) await this.#work(request, response, path, endpoint);
      else await this.#other(request, response, path);
    } catch {
      response.destroy(); // the client broke off in the middle of its request
    }
  }

  async #work(request: IncomingMessage, response: ServerResponse, path: string, endpoint: Endpoint): Promise<void> {
    const tally = this.#tally;
    tally.running++;
    response.once('close', () => {
      tally.running--;
      if (response.writableFinished) tally.completed++;
      else tally.aborted++;
    });
    const knobs = withHeader(this.#knobs, request);
    for (const line of knobs.headers) response.appendHeader(...splitHeader(line));
    const body = await receiveBody(request, knobs.digest);
    this.#note(request, body.bytes, body.sha256);
    if (knobs.digest) response.setHeader('x-sim-body-bytes', body.bytes).setHeader('x-sim-body-sha256', body.sha256);
    const rank = body.json['data_parallel_rank'];
    if (knobs.dpSize > 0) response.setHeader('x-sim-rank', rank === undefined ? 'none' : JSON.stringify(rank));
    if (this.#happens(knobs.resetRate)) return reset(request.socket);
    if (this.#happens(knobs.hangRate)) return;
    if (this.#happens(knobs.failRate)) {
      return sendJson(response, knobs.failStatus, { error: { message: 'injected failure', code: 'sim_failure' } });
    }
    const drop = this.#happens(knobs.dropRate);
    const ask = readAsk(path, body, knobs, this.name, tally.requests);
    const streams = body.json['stream'] === true && endpoint.events !== undefined;
    if (streams) tally.streams++;
    tally.tokens += ask.words.length;
    const prefill = prefillOf(body.json);
    if (prefill !== null) response.setHeader('x-sim-prefill', prefill);
    const answered = withCache(endpoint, body.json, this.name);
    await (streams ? answerEvents : answerWhole)(response, answered, ask, knobs, drop);
  }

  async #other(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    if (path === '/_sim') return this.#control(request, response);
    const knobs = this.#knobs;
    if (path === '/health' || path === '/health_generate' || path === '/healthz') {
      this.#tally.probes++;
      return sendJson(response, knobs.healthStatus, {});
    }
    if (path === '/v1/models') {
      this.#tally.probes++;
      return sendJson(response, knobs.modelsStatus, modelList(knobs));
    }
    if (path === '/server_info' && knobs.dpSize > 0) {
      return sendJson(response, 200, { model_path: knobs.models[0] ?? '', dp_size: knobs.dpSize, version: 'sim' });
    }
    if (path === '/metrics') {
      const text = engineMetrics(this.#tally, knobs);
      return void response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' }).end(text);
    }
    if (path === '/version') return sendJson(response, 200, { version: 'sim' });
    sendJson(response, 404, { detail: 'Not Found' });
  }

  /** `GET /_sim`: counters; `POST /_sim`: a change of behaviour (see knobs.ts), answered with the counters. */
  async #control(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === 'POST') {
      const change = readKnobs((await receiveBody(request, false)).json);
      if (typeof change === 'string') return sendJson(response, 400, { error: change });
      this.set(change);
    }
    sendJson(response, 200, { worker: this.name, knobs: this.#knobs, seen: this.#tally });
  }

  #note(request: IncomingMessage, bytes: number, sha256: string): void {
    this.#tally.requests++;
    const { method = '', url = '', rawHeaders } = request;
    this.#tally.last = { method, path: url, rawHeaders, bytes, sha256 };
  }

  #happens(rate: number): boolean {
    if (rate === 0 || this.#random() >= rate) return false;
    this.#tally.injected++;
    return true;
  }
}

/** Only a plain TCP socket can end with a reset; over TLS the connection just breaks off. */
function reset(socket: Socket): void {
  if (socket instanceof TLSSocket) socket.destroy();
  else socket.resetAndDestroy();
}

/** The request header `x-sim` (a JSON object as for `POST /_sim`) changes behaviour for its request alone. */
function withHeader(knobs: Knobs, request: IncomingMessage): Knobs {
  const header = request.headers['x-sim'];
  if (typeof header !== 'string') return knobs;
  let change: Partial<Knobs> | string;
  try {
    change = readKnobs(JSON.parse(header));
  } catch {
    return knobs;
  }
  return typeof change === 'string' ? knobs : { ...knobs, ...change };
}

function splitHeader(line: string): [name: string, value: string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon), line.slice(colon + 1).trim()];
}

function sendJson(response: ServerResponse, status: number, value: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

function modelList({ models, engine }: Knobs): object {
  return {
    object: 'list',
    data: models.map((id) => ({ id, object: 'model', created: 1, owned_by: engine, root: id, max_model_len: 8192 })),
  };
}
