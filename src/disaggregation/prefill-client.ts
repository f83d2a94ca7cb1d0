/** HTTP to the prefill workers: pooled connections, one deadline for the whole exchange, an end that the caller can set. */
import { Agent, type Dispatcher } from 'undici';
import { connectFailure } from '../workers/connect-failure.ts';
import type { Upstream } from '../workers/upstream.ts';

/** One request to a prefill worker. */
export interface PrefillCall {
  /** `http://ip:port` or `https://ip:port` to connect to; the certificate has to be for the name in the header `host`. */
  readonly origin: string;
  /** Path and query. */
  readonly path: string;
  /** Header names in lower case, `host` among them. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** For the whole exchange, in milliseconds. */
  readonly timeoutMs: number;
  /** Whether the body of a good answer is wanted; else it is read to its end and dropped. */
  readonly wantsAnswer: boolean;
}

export type PrefillAnswer =
  /** `body` is cut at `MOST_ANSWER_BYTES`, and `complete` tells so. */
  | { readonly kind: 'answer'; readonly status: number; readonly body: Buffer; readonly complete: boolean }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'cancelled' }
  /** Refused, reset, or not HTTP; `reason` is a code or a short text. */
  | { readonly kind: 'failed'; readonly reason: string };

/** An exchange under way. */
export interface RunningCall {
  /** Never rejects. */
  readonly answer: Promise<PrefillAnswer>;
  /** Ends the exchange; `answer` is `cancelled` unless it is there already. */
  cancel(): void;
}

/** A prefill answers with one token and where its cache is, which takes some bytes for each block; more is a worker gone wrong. */
const MOST_ANSWER_BYTES = 16 * 1024 * 1024;
/** Below the 5 s after which uvicorn closes an idle connection, so that it is never closed under a request (envoy 2.2). */
const KEEP_ALIVE_MS = 4000;

export interface PrefillClientOptions {
  /** Longest wait for a connection, in milliseconds. */
  readonly connectTimeoutMs: number;
  readonly upstream: Upstream;
}

export class PrefillClient {
  readonly #agent: Agent;
  readonly #running = new Set<Promise<PrefillAnswer>>();

  constructor({ connectTimeoutMs, upstream: { http2, tls } }: PrefillClientOptions) {
    this.#agent = new Agent({
      connect: {
        timeout: connectTimeoutMs,
        ...(http2 ? { useH2c: true } : {}),
        rejectUnauthorized: !tls.insecure,
        ...(tls.ca.length === 0 ? {} : { ca: [...tls.ca] }),
        ...(tls.cert === null || tls.key === null ? {} : { cert: tls.cert, key: tls.key }),
      },
      allowH2: http2,
      connections: null,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
      // One deadline of ours stands for all of undici's.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  /** @param onSent the worker is connected, and the request goes out to it now; called at most once */
  send(call: PrefillCall, onSent: () => void): RunningCall {
    let exchange: Exchange | null = null;
    const answer = new Promise<PrefillAnswer>((resolve) => {
      exchange = new Exchange(this.#agent, call, onSent, resolve);
      exchange.begin();
    });
    this.#running.add(answer);
    void answer.then(() => this.#running.delete(answer));
    return { answer, cancel: () => exchange?.cancel() };
  }

  /** Everything that runs now is over. */
  async idle(): Promise<void> {
    await Promise.all(this.#running);
  }

  /** Ends everything that runs. */
  close(): Promise<void> {
    return this.#agent.destroy();
  }
}

/** What undici tells of one exchange, made into one answer. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #agent: Agent;
  readonly #call: PrefillCall;
  readonly #onSent: () => void;
  readonly #resolve: (answer: PrefillAnswer) => void;
  readonly #timer: NodeJS.Timeout;
  readonly #chunks: Buffer[] = [];
  #controller: Dispatcher.DispatchController | null = null;
  #byteLength = 0;
  #status = 0;
  #resent = false;
  #over = false;

  constructor(agent: Agent, call: PrefillCall, onSent: () => void, resolve: (answer: PrefillAnswer) => void) {
    this.#agent = agent;
    this.#call = call;
    this.#onSent = onSent;
    this.#resolve = resolve;
    this.#timer = setTimeout(() => this.#stop({ kind: 'timeout' }), call.timeoutMs);
  }

  begin(): void {
    const { origin, path, headers, body } = this.#call;
    try {
      this.#agent.dispatch({ origin, path, method: 'POST', headers, body }, this);
    } catch (error) {
      this.onResponseError(null, error);
    }
  }

  cancel(): void {
    this.#stop({ kind: 'cancelled' });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#over) controller.abort(STOPPED);
    else if (!this.#resent) this.#onSent();
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number): void {
    this.#status = status;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#call.wantsAnswer && this.#status < 400) return;
    this.#chunks.push(chunk);
    this.#byteLength += chunk.length;
    if (this.#byteLength > MOST_ANSWER_BYTES) this.#stop(this.#answer(false));
  }

  onResponseEnd(): void {
    this.#finish(this.#answer(true));
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: unknown): void {
    if (this.#mayBeStale()) {
      this.#resent = true;
      this.#controller = null;
      this.begin();
      return;
    }
    this.#finish({ kind: 'failed', reason: reasonOf(error) });
  }

  /** A kept connection that ended without a byte of an answer may have met its worker's closing it: policies 5, one resend. */
  #mayBeStale(): boolean {
    return !this.#over && !this.#resent && this.#controller !== null && this.#status === 0;
  }

  #answer(complete: boolean): PrefillAnswer {
    return { kind: 'answer', status: this.#status, body: Buffer.concat(this.#chunks), complete };
  }

  #stop(answer: PrefillAnswer): void {
    this.#finish(answer);
    this.#controller?.abort(STOPPED);
  }

  #finish(answer: PrefillAnswer): void {
    if (this.#over) return;
    this.#over = true;
    clearTimeout(this.#timer);
    this.#resolve(answer);
  }
}

const STOPPED = new Error('nobody waits for this answer any more');

function reasonOf(error: unknown): string {
  return error instanceof Error ? connectFailure(error) : String(error);
}
