import { Agent, type ClientRequest, type IncomingMessage, request as request1 } from 'node:http';
import { type ClientHttp2Session, connect as connectHttp2, type OutgoingHttpHeaders } from 'node:http2';
import { connect } from 'node:net';

/** A request; `body` pieces are written one after the other, so a list of them goes out chunked. */
export interface Outgoing {
  readonly method?: string;
  readonly path?: string;
  /** Name, value, name, value …: keeps case, order and repetition. Or an object. */
  readonly headers?: readonly string[] | OutgoingHttpHeaders;
  readonly body?: string | Buffer | object | readonly Buffer[];
  /** Sent behind the body, which then goes out chunked on HTTP/1.1: give it in pieces. */
  readonly trailers?: Readonly<Record<string, string>>;
}

/** An answer read to its end. */
export interface Answer {
  readonly status: number;
  /** By lower-case name; repeated ones joined with `, `. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of any shape
  readonly json: any;
}

/** A request that is under way: its answer, and a way to leave before it. */
export interface Exchange {
  readonly answer: Promise<Answer>;
  /** Resolves with the status when the response headers came. */
  readonly headers: Promise<number>;
  abort(): void;
}

const agent = new Agent({ keepAlive: true, maxSockets: 256 });

/** Starts an HTTP/1.1 request. */
export function start(url: string, out: Outgoing = {}): Exchange {
  const { bytes, headers } = encode(out);
  const at = new URL(out.path ?? '/', url);
  const method = out.method ?? (out.body === undefined ? 'GET' : 'POST');
  // A list goes out as it is, so it lacks the Host that Node adds to an object.
  const sent = isList(headers) && !hasName(headers, 'host') ? ['host', at.host, ...headers] : headers;
  const client: ClientRequest = request1(at, { method, agent, headers: sent });
  const response = new Promise<IncomingMessage>((resolve, reject) => {
    client.once('response', resolve);
    client.once('error', reject);
  });
  const answer = response.then(async (incoming) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
    return toAnswer(incoming.statusCode ?? 0, incoming.headers, Buffer.concat(chunks));
  });
  const status = response.then((incoming) => incoming.statusCode ?? 0);
  for (const promise of [answer, status]) promise.catch(() => undefined); // whoever waits for it sees the error
  for (const piece of bytes) client.write(piece);
  if (out.trailers !== undefined) client.addTrailers(out.trailers);
  client.end();
  return {
    answer,
    headers: status,
    abort: () => client.destroy(),
  };
}

/** One HTTP/1.1 request, answered. */
export function ask(url: string, out: Outgoing = {}): Promise<Answer> {
  return start(url, out).answer;
}

/** An HTTP/2 connection with prior knowledge. */
export interface Http2Client {
  readonly session: ClientHttp2Session;
  ask(out?: Outgoing): Promise<Answer>;
  close(): void;
}

/** Opens an HTTP/2 connection with prior knowledge. */
export function http2Client(url: string): Http2Client {
  const session = connectHttp2(url);
  session.on('error', () => undefined); // each stream tells its own
  return { session, ask: (out = {}) => askOn(session, out), close: () => session.close() };
}

function askOn(session: ClientHttp2Session, out: Outgoing): Promise<Answer> {
  const { bytes, headers } = encode(out);
  const named: OutgoingHttpHeaders = isList(headers) ? pairs(headers) : headers;
  const method = out.method ?? (out.body === undefined ? 'GET' : 'POST');
  return new Promise((resolve, reject) => {
    const { trailers } = out;
    const options = { waitForTrailers: trailers !== undefined };
    const stream = session.request({ ':method': method, ':path': out.path ?? '/', ...named }, options);
    stream.on('wantTrailers', () => stream.sendTrailers(trailers ?? {}));
    const chunks: Buffer[] = [];
    let head: Record<string, string | string[] | undefined> = {};
    stream.on('response', (received) => {
      head = received as typeof head;
    });
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('error', reject);
    stream.on('end', () => resolve(toAnswer(Number(head[':status']), head, Buffer.concat(chunks))));
    for (const piece of bytes) stream.write(piece);
    stream.end();
  });
}

/** Sends bytes as they are and returns what came back until the peer closed, at most `ms` later. */
export function rawHttp(port: number, bytes: string | Buffer, ms = 5_000): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    const done = (): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(text);
    };
    const timer = setTimeout(done, ms);
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    socket.on('close', done);
    socket.on('error', (error) => (text === '' ? reject(error) : done()));
    socket.write(bytes);
  });
}

function encode(out: Outgoing): { bytes: readonly Buffer[]; headers: readonly string[] | OutgoingHttpHeaders } {
  const headers = out.headers ?? {};
  const { body } = out;
  if (body === undefined) return { bytes: [], headers };
  if (Array.isArray(body)) return { bytes: body as readonly Buffer[], headers };
  const isJson = typeof body === 'object' && !Buffer.isBuffer(body);
  const whole = isJson ? Buffer.from(JSON.stringify(body)) : Buffer.from(body as string | Buffer);
  const standard: [string, string][] = [['content-length', String(whole.length)]];
  if (!hasName(headers, 'content-type')) standard.push(['content-type', 'application/json']);
  return {
    bytes: [whole],
    headers: isList(headers) ? [...headers, ...standard.flat()] : { ...Object.fromEntries(standard), ...headers },
  };
}

function isList(headers: readonly string[] | OutgoingHttpHeaders): headers is readonly string[] {
  return Array.isArray(headers);
}

function hasName(headers: readonly string[] | OutgoingHttpHeaders, name: string): boolean {
  const names = isList(headers) ? headers.filter((_, i) => i % 2 === 0) : Object.keys(headers);
  return names.some((each) => each.toLowerCase() === name);
}

function pairs(headers: readonly string[]): OutgoingHttpHeaders {
  const out: Record<string, string[]> = {};
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]?.toLowerCase() ?? '';
    out[name] = [...(out[name] ?? []), headers[i + 1] ?? ''];
  }
  return out;
}

function toAnswer(status: number, head: Record<string, string | string[] | undefined>, body: Buffer): Answer {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(head)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(', ') : String(value);
  }
  return {
    status,
    headers,
    body,
    get text() {
      return body.toString('utf8');
    },
    get json() {
      return JSON.parse(body.toString('utf8'));
    },
  };
}
