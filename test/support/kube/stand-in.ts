import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { TLSSocket } from 'node:tls';
import { selfSigned } from '../../../src/sim/certificate.ts';
import { type LogEvent, PodLog, type Selection } from './pod-log.ts';

export const TOKEN = 'the-token-of-the-reader';

/**
 * Stands in for an API server as far as pods go: TLS, bearer tokens and client certificates, pages, watches in chunks of JSON lines, bookmarks,
 * and both ways of saying that a version is gone. What it sends was compared with a kube-apiserver of Kubernetes 1.34.
 */
export class StandIn {
  readonly log = new PodLog();
  readonly certificate = selfSigned({ names: ['127.0.0.1', 'localhost'], now: Date.now(), days: 1 });
  /** Proves a user as the token does. */
  readonly clientCertificate = selfSigned({ names: ['reader'], now: Date.now(), days: 1 });
  /** The one that is good now. */
  token = TOKEN;
  /** How a watch from a version that is gone is answered. */
  goneAs: 'status' | 'event' = 'event';
  /** Any question is answered with this status instead. */
  refuseWith: number | null = null;
  /** Questions so far: `list` and `watch VERSION`. */
  readonly asked: string[] = [];
  readonly #server: Server;
  readonly #watches = new Set<ServerResponse>();

  constructor() {
    const { cert, key } = this.certificate;
    const ca = this.clientCertificate.cert;
    this.#server = createServer({ cert, key, ca, requestCert: true, rejectUnauthorized: false }, (request, response) =>
      this.#answer(request, response),
    );
  }

  async start(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return (this.#server.address() as AddressInfo).port;
  }

  /** Tells every watch how far it has come. */
  bookmark(): void {
    for (const response of this.#watches) send(response, this.log.bookmark());
  }

  /** Ends every watch as a server does whose time for it is over. */
  endWatches(): void {
    for (const response of this.#watches) response.end();
  }

  connections(): Promise<number> {
    return new Promise((resolve) => this.#server.getConnections((_, count) => resolve(count)));
  }

  /** Sends bytes on every watch as they are. */
  raw(text: string): void {
    for (const response of this.#watches) response.write(text);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #answer(request: IncomingMessage, response: ServerResponse): unknown {
    const url = new URL(request.url ?? '', 'https://x');
    const namespace = /^\/api\/v1\/(?:namespaces\/([^/]+)\/)?pods$/.exec(url.pathname);
    if (this.refuseWith !== null) return status(response, this.refuseWith, 'refused by the test');
    const proven = request.socket instanceof TLSSocket && request.socket.authorized;
    if (!proven && request.headers.authorization !== `Bearer ${this.token}`)
      return status(response, 401, 'Unauthorized');
    if (namespace === null) return status(response, 404, 'the server could not find the requested resource');
    const { searchParams } = url;
    const selection = { namespace: namespace[1] ?? null, labels: searchParams.get('labelSelector') ?? '' };
    if (searchParams.get('watch') === 'true') return this.#watch(response, searchParams, selection);
    return this.#list(response, searchParams, selection);
  }

  #list(response: ServerResponse, query: URLSearchParams, selection: Selection): ServerResponse {
    this.asked.push('list');
    const limit = Number(query.get('limit') ?? Number.POSITIVE_INFINITY);
    const [version = this.log.version, from = 0] = (query.get('continue') ?? '').split('+').filter(Boolean).map(Number);
    if (this.log.isGone(version)) {
      return status(response, 410, 'The provided continue parameter is too old to display a consistent list result.');
    }
    const all = this.log.list(selection);
    const rest = from + limit < all.length ? { continue: `${version}+${from + limit}` } : {};
    const metadata = { resourceVersion: String(version), ...rest };
    const body = { kind: 'PodList', apiVersion: 'v1', metadata, items: all.slice(from, from + limit) };
    return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }

  #watch(response: ServerResponse, query: URLSearchParams, selection: Selection): ServerResponse {
    let version = Number(query.get('resourceVersion'));
    this.asked.push(`watch ${version}`);
    const gone = this.log.isGone(version);
    if (gone && this.goneAs === 'status') return status(response, 410, 'too old resource version');
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    if (gone) {
      const object = {
        kind: 'Status',
        status: 'Failure',
        message: 'too old resource version',
        reason: 'Expired',
        code: 410,
      };
      return response.end(`${JSON.stringify({ type: 'ERROR', object })}\n`);
    }
    const follow = (): void => {
      for (const event of this.log.since(version, selection)) send(response, event);
      version = this.log.version;
    };
    const unfollow = this.log.onChange(follow);
    this.#watches.add(response);
    response.on('close', () => {
      unfollow();
      this.#watches.delete(response);
    });
    follow();
    return response;
  }
}

/** In two pieces, as a network may bring it. */
function send(response: ServerResponse, event: LogEvent): void {
  const line = `${JSON.stringify(event)}\n`;
  const middle = line.length >> 1;
  response.write(line.slice(0, middle));
  response.write(line.slice(middle));
}

function status(response: ServerResponse, code: number, message: string): ServerResponse {
  const body = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, code };
  return response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(body, null, 2));
}
