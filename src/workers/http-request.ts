import { type Agent, type ClientRequest, request } from 'node:http';
import { request as requestOverTls } from 'node:https';
import { connectFailure } from './connect-failure.ts';
import type { ConnectTls } from './upstream.ts';

export interface HttpRequestOptions {
  /** GET unless it says POST, which then has an empty body. */
  readonly method?: 'GET' | 'POST';
  /** Bare IP address to connect to. */
  readonly ip: string;
  readonly port: number;
  readonly path: string;
  /** Header names in lower case; must hold `host`. */
  readonly headers: Readonly<Record<string, string>>;
  /** For the whole exchange. */
  readonly timeoutMs: number;
  /** Longest body that is read; the rest is dropped. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  /** Over TLS; without it in clear text. */
  readonly tls?: ConnectTls | null;
  /** Of node:https with TLS. Keeps the connection for the next question; without it the connection is the question's own. */
  readonly agent?: Agent;
}

export type HttpResult =
  | { readonly kind: 'answer'; readonly status: number; readonly body: Buffer; readonly complete: boolean }
  | { readonly kind: 'timeout' }
  /** Refused, reset, aborted, or not HTTP; `reason` is a code or a short text. */
  | { readonly kind: 'failed'; readonly reason: string };

/** The answer is a good one: 2xx. */
export function isOk(status: number): boolean {
  return status >= 200 && status < 300;
}

/** The answer says that there is no such route. */
export function isAbsent(status: number): boolean {
  return status === 404 || status === 405 || status === 501;
}

/**
 * One request without a body. Unless an agent keeps it, its connection is closed whatever happens. A kept one that the other
 * side gave up in the meantime costs no answer: the question is asked once more on a new one. Follows no redirect.
 */
export function httpRequest(options: HttpRequestOptions): Promise<HttpResult> {
  return new Promise((resolve) => {
    const exchange = open(options);
    if (exchange === null) return resolve({ kind: 'failed', reason: 'path or header with a forbidden character' });
    const finish = (result: HttpResult | Promise<HttpResult>, keep = false) => {
      clearTimeout(timer);
      options.signal.removeEventListener('abort', abort);
      if (!keep) exchange.destroy();
      resolve(result);
    };
    let answered = false;
    const abort = () => finish({ kind: 'failed', reason: 'aborted' });
    const timer = setTimeout(() => finish({ kind: 'timeout' }), options.timeoutMs);
    // Stays to the end: a destroyed request may still report an error.
    exchange.on('error', (error: Error) => {
      const stale = exchange.reusedSocket && !answered && !options.signal.aborted;
      finish(stale ? httpRequest(withoutAgent(options)) : { kind: 'failed', reason: connectFailure(error) });
    });
    exchange.on('response', (response) => {
      answered = true;
      const status = response.statusCode ?? 0;
      // A 204 ends with its head; bytes that a careless worker sends after it are none of its answer.
      if (status === 204) return finish({ kind: 'answer', status, body: Buffer.alloc(0), complete: true });
      const chunks: Buffer[] = [];
      let length = 0;
      response.on('data', (chunk: Buffer) => {
        length += chunk.length;
        if (length > options.maxBytes) finish({ kind: 'answer', status, body: Buffer.alloc(0), complete: false });
        else chunks.push(chunk);
      });
      response.on('end', () => {
        finish({ kind: 'answer', status, body: Buffer.concat(chunks), complete: true }, options.agent !== undefined);
      });
      response.on('error', (error: Error) => finish({ kind: 'failed', reason: connectFailure(error) }));
    });
    if (options.signal.aborted) abort();
    else {
      options.signal.addEventListener('abort', abort);
      exchange.end();
    }
  });
}

function withoutAgent({ agent: _, ...options }: HttpRequestOptions): HttpRequestOptions {
  return options;
}

function open({ method = 'GET', ip, port, path, headers, agent, tls }: HttpRequestOptions): ClientRequest | null {
  const options = { method, host: ip, port, path, headers, setHost: false, agent: agent ?? false };
  try {
    return tls ? requestOverTls({ ...options, ...tls }) : request(options);
  } catch {
    return null;
  }
}
