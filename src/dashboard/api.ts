/** Asks the admin API of the service that served this page. */

/** What the service, or the way to it, said instead of an answer. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** 0 where nobody answered. */
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const TOKEN = 'smg-envoy-token';

/** The bearer key of this tab; empty without one. */
export function token(): string {
  return sessionStorage.getItem(TOKEN) ?? '';
}

/** Keeps a key for this tab alone. Empty: forgets it. */
export function keepToken(value: string): void {
  if (value === '') sessionStorage.removeItem(TOKEN);
  else sessionStorage.setItem(TOKEN, value);
}

/** Rejects with `ApiError`, or with `AbortError` when `signal` says so. */
export async function ask<T>(
  path: string,
  init: { method?: string; body?: unknown; signal?: AbortSignal } = {},
): Promise<T> {
  const response = await send(path, init);
  return (await response.json()) as T; // Routes and page are of one build.
}

/** The body of an endless answer. */
export async function listen(path: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
  const { body } = await send(path, { signal });
  if (body === null) throw new ApiError(0, 'The service sent nothing');
  return body;
}

async function send(path: string, init: { method?: string; body?: unknown; signal?: AbortSignal }): Promise<Response> {
  const headers = new Headers({ accept: '*/*' });
  if (token() !== '') headers.set('authorization', `Bearer ${token()}`);
  const request: RequestInit = { method: init.method ?? 'GET', headers, cache: 'no-store' };
  if (init.signal !== undefined) request.signal = init.signal;
  if (init.body !== undefined) {
    headers.set('content-type', 'application/json');
    request.body = JSON.stringify(init.body);
  }
  let response: Response;
  try {
    response = await fetch(path, request);
  } catch (error) {
    if (init.signal?.aborted === true) throw error;
    throw new ApiError(0, 'The service does not answer');
  }
  if (response.ok) return response;
  throw new ApiError(response.status, await messageOf(response));
}

async function messageOf(response: Response): Promise<string> {
  try {
    const { error } = (await response.json()) as { error?: { message?: string } };
    return error?.message ?? `HTTP ${response.status}`;
  } catch {
    return `HTTP ${response.status}`;
  }
}

/** One server-sent event. */
export interface ServerEvent {
  readonly name: string;
  readonly data: string;
}

/** Reads server-sent events. `EventSource` could not send the key. */
export async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncIterable<ServerEvent> {
  let rest = '';
  const decoder = new TextDecoder();
  const reader = body.getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    rest += decoder.decode(read.value, { stream: true });
    const blocks = rest.split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const fields = block.split('\n').map((line) => line.split(/: ?(.*)/s));
      const data = fields.find(([name]) => name === 'data')?.[1];
      if (data !== undefined) yield { name: fields.find(([name]) => name === 'event')?.[1] ?? 'message', data };
    }
  }
}
