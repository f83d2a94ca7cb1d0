import { type ClientHttp2Session, connect } from 'node:http2';
import { connectFailure } from './connect-failure.ts';
import type { HttpRequestOptions, HttpResult } from './http-request.ts';

export interface Http2RequestOptions extends Omit<HttpRequestOptions, 'agent'> {
  /** What is sent; nothing without it. */
  readonly body?: Buffer;
}

/** Also the status that a gRPC server gives at the end; null where there is none. */
export type Http2Result =
  | (Extract<HttpResult, { kind: 'answer' }> & { readonly grpcStatus: string | null })
  | Exclude<HttpResult, { kind: 'answer' }>;

/** As `httpRequest`, by HTTP/2 with prior knowledge, on a connection of its own. */
export function http2Request(options: Http2RequestOptions): Promise<Http2Result> {
  return new Promise((resolve) => {
    const { ip, port, tls, signal, maxBytes } = options;
    const host = ip.includes(':') ? `[${ip}]` : ip;
    const session = connect(`${tls ? 'https' : 'http'}://${host}:${port}`, { ...tls });
    const finish = (result: Http2Result) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      session.destroy();
      resolve(result);
    };
    const abort = () => finish({ kind: 'failed', reason: 'aborted' });
    const fail = (error: Error) => finish({ kind: 'failed', reason: connectFailure(error) });
    const timer = setTimeout(() => finish({ kind: 'timeout' }), options.timeoutMs);
    session.on('error', fail);
    session.on('close', () => finish({ kind: 'failed', reason: 'connection closed' }));
    if (signal.aborted) return abort();
    signal.addEventListener('abort', abort);

    const stream = open(session, options);
    if (stream === null) return finish({ kind: 'failed', reason: 'path or header with a forbidden character' });
    let status = 0;
    let grpcStatus: string | null = null;
    let length = 0;
    const chunks: Buffer[] = [];
    stream.on('error', fail);
    stream.on('response', (headers) => {
      status = Number(headers[':status']);
      // An answer of nothing but trailers (gRPC) shows them as headers.
      grpcStatus = textOf(headers['grpc-status']);
    });
    stream.on('trailers', (trailers) => {
      grpcStatus = textOf(trailers['grpc-status']) ?? grpcStatus;
    });
    stream.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length > maxBytes) {
        finish({ kind: 'answer', status, body: Buffer.alloc(0), complete: false, grpcStatus });
      } else chunks.push(chunk);
    });
    stream.on('end', () => {
      if (status === 0) finish({ kind: 'failed', reason: 'no answer' });
      else finish({ kind: 'answer', status, body: Buffer.concat(chunks), complete: true, grpcStatus });
    });
    stream.end(options.body);
  });
}

function open(session: ClientHttp2Session, { method = 'GET', path, headers }: Http2RequestOptions) {
  const { host, ...others } = headers;
  try {
    return session.request({ ':method': method, ':path': path, ':authority': host, ...others }, { endStream: false });
  } catch {
    return null;
  }
}

function textOf(value: string | string[] | undefined): string | null {
  return typeof value === 'string' ? value : null;
}
