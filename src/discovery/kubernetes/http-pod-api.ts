import http from 'node:http';
import https from 'node:https';
import { messageOf } from '../../util/app-error.ts';
import type { ClusterAccess } from './cluster-access.ts';
import { JsonLines } from './json-lines.ts';
import { jsonObject, textOf } from './pod.ts';
import type { ListAnswer, PodApi, WatchEnd, WatchHandlers } from './pod-api.ts';

export interface HttpPodApiOptions {
  /** Found anew after a failure to find it. */
  readonly access: () => Promise<ClusterAccess>;
  /** Null: pods of all namespaces. */
  readonly namespace: string | null;
  /** As the API server takes it; empty: all pods. */
  readonly labelSelector: string;
  readonly random?: () => number;
  /** Most pods on a page of the list. */
  readonly pagePods?: number;
  /** Longest silence of a watch, in milliseconds. */
  readonly silenceMs?: number;
  /** Longest wait for the beginning of an answer, and for the whole of a list, in milliseconds. */
  readonly answerMs?: number;
}

const PAGE_PODS = 500;
const GONE = 410;
/** The server ends a watch after this time and up to a half more, so that not all of its watches end at once. */
const WATCH_SECS = 240;
/** Bookmarks come about once a minute: a connection silent for longer may be dead without having told. */
const SILENCE_MS = 150_000;
const ANSWER_MS = 15_000;
const LIST_BYTES = 512 * 1024 * 1024;
const KEEP_ALIVE_MS = 15_000;

/** Pods over HTTP as the API server of Kubernetes speaks it: lists in pages, watches as lines of JSON with bookmarks. */
export class HttpPodApi implements PodApi {
  readonly #options: HttpPodApiOptions;
  readonly #path: string;
  #access: ClusterAccess | null = null;

  constructor(options: HttpPodApiOptions) {
    this.#options = options;
    const { namespace } = options;
    this.#path = namespace === null ? '/api/v1/pods' : `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods`;
  }

  async list(continueToken: string, paged: boolean, signal: AbortSignal): Promise<ListAnswer> {
    const query = this.#query();
    if (paged) query.set('limit', String(this.#options.pagePods ?? PAGE_PODS));
    if (continueToken !== '') query.set('continue', continueToken);
    const { answerMs = ANSWER_MS } = this.#options;
    try {
      const response = await this.#get(query, AbortSignal.any([signal, AbortSignal.timeout(2 * answerMs)]));
      const text = await bodyOf(response, LIST_BYTES);
      if (response.statusCode !== 200) return refusal(response.statusCode, text);
      const { metadata, items } = jsonObject(JSON.parse(text));
      const { resourceVersion, continue: next } = jsonObject(metadata);
      if (!Array.isArray(items) || textOf(resourceVersion) === '') {
        return { kind: 'failed', problem: 'the answer of the API server is no list of pods' };
      }
      return { kind: 'page', items, resourceVersion: textOf(resourceVersion), continueToken: textOf(next) };
    } catch (error) {
      return this.#lost(error);
    }
  }

  async watch(resourceVersion: string, handlers: WatchHandlers, signal: AbortSignal): Promise<WatchEnd> {
    const { random = Math.random, silenceMs = SILENCE_MS } = this.#options;
    const query = this.#query();
    query.set('watch', '1');
    query.set('allowWatchBookmarks', 'true');
    query.set('resourceVersion', resourceVersion);
    query.set('timeoutSeconds', String(Math.round(WATCH_SECS * (1 + random() / 2))));
    try {
      const response = await this.#get(query, signal);
      if (response.statusCode !== 200) return refusal(response.statusCode, await bodyOf(response, 1024 * 1024));
      handlers.opened();
      response.setTimeout(silenceMs, () => response.destroy(new Error('the watch has gone silent')));
      const lines = new JsonLines();
      for await (const chunk of response as AsyncIterable<Buffer>) {
        for (const value of lines.push(chunk)) {
          const { type, object } = jsonObject(value);
          if (type === 'ERROR') return refusal(jsonObject(object)['code'], textOf(jsonObject(object)['message']));
          if (!handlers.event({ type: textOf(type), object })) return { kind: 'ended' };
        }
      }
      return { kind: 'ended' };
    } catch (error) {
      return this.#lost(error);
    }
  }

  /** What was known of the way to the server may be old: it is looked for again. */
  #lost(error: unknown): { kind: 'failed'; problem: string } {
    this.#access = null;
    return { kind: 'failed', problem: `the API server cannot be asked: ${messageOf(error)}` };
  }

  #query(): URLSearchParams {
    const { labelSelector } = this.#options;
    return new URLSearchParams(labelSelector === '' ? {} : { labelSelector });
  }

  /** Rejects when there is no answer. A status is an answer. */
  async #get(query: URLSearchParams, signal: AbortSignal): Promise<http.IncomingMessage> {
    this.#access ??= await this.#options.access();
    const access = this.#access;
    const { token, cert, key } = await access.credentials();
    const ca = await access.ca();
    const { answerMs = ANSWER_MS } = this.#options;
    const { pathname } = access.server;
    const url = new URL(`${pathname.replace(/\/$/, '')}${this.#path}?${query}`, access.server);
    const options: https.RequestOptions = {
      agent: false,
      signal,
      headers: { accept: 'application/json', ...(token === null ? {} : { authorization: `Bearer ${token}` }) },
      rejectUnauthorized: access.verified,
      ...(ca === null ? {} : { ca }),
      ...(cert === null ? {} : { cert }),
      ...(key === null ? {} : { key }),
      ...(access.serverName === null ? {} : { servername: access.serverName }),
    };
    return new Promise((resolve, reject) => {
      const request = (url.protocol === 'https:' ? https : http).get(url, options);
      const late = setTimeout(() => request.destroy(new Error('no answer in time')), answerMs);
      request.on('socket', (socket) => socket.setKeepAlive(true, KEEP_ALIVE_MS));
      request.on('response', (response) => {
        clearTimeout(late);
        if (response.statusCode === 401) access.refused();
        resolve(response);
      });
      request.on('error', (error) => {
        clearTimeout(late);
        reject(error);
      });
    });
  }
}

async function bodyOf(response: http.IncomingMessage, maxBytes: number): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of response as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > maxBytes) throw new Error('the answer of the API server is too large');
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

/** What a status, or the code of an `ERROR` event, says. `text`: a Status object or its message. */
function refusal(code: unknown, text: string): { kind: 'gone' } | { kind: 'failed'; problem: string } {
  if (code === GONE) return { kind: 'gone' };
  let message = text;
  try {
    message = textOf(jsonObject(JSON.parse(text))['message']) || text;
  } catch {
    // A proxy in between does not speak the API.
  }
  return { kind: 'failed', problem: `the API server answered ${String(code)}: ${message.slice(0, 300).trim()}` };
}
