import { STATUS_CODES } from 'node:http';
import {
  CoreV1Api,
  createConfiguration,
  type KubeConfig,
  type Middleware,
  ServerConfiguration,
} from '@kubernetes/client-node';
import { messageOf } from '../../util/app-error.ts';
import { followPods } from './follow-pods.ts';
import { jsonObject, textOf } from './pod.ts';
import type { ListAnswer, PodApi, WatchEnd, WatchHandlers } from './pod-api.ts';

export interface KubePodApiOptions {
  /** Found anew after the server could not be asked, or refused who asked. */
  readonly cluster: () => KubeConfig;
  /** Null: pods of all namespaces. */
  readonly namespace: string | null;
  /** As the API server takes it; empty: all pods. */
  readonly labelSelector: string;
  readonly random?: () => number;
  /** Most pods on a page of the list. */
  readonly pagePods?: number;
  /** Longest silence of a watch, in milliseconds. */
  readonly silenceMs?: number;
  /** Longest wait for the beginning of a watch, in milliseconds; a page of the list may take twice as long. */
  readonly answerMs?: number;
}

/** Some 20 ms of work for a page, which requests wait for. */
const PAGE_PODS = 250;
const GONE = 410;
const UNAUTHORIZED = 401;
/** The server ends a watch after this time and up to a half more, so that not all of its watches end at once. */
const WATCH_SECS = 240;
/** Bookmarks come about once a minute: a connection silent for longer may be dead without having told. */
const SILENCE_MS = 150_000;
const ANSWER_MS = 15_000;

type Failure = { readonly kind: 'gone' } | { readonly kind: 'failed'; readonly problem: string };

/** Pods by the client of the Kubernetes project, which knows credentials, proxies and the API. */
export class KubePodApi implements PodApi {
  readonly #options: KubePodApiOptions;
  #config: KubeConfig | null = null;
  #credentials: Promise<void> | null = null;

  constructor(options: KubePodApiOptions) {
    this.#options = options;
  }

  async list(continueToken: string, paged: boolean, signal: AbortSignal): Promise<ListAnswer> {
    const { namespace, labelSelector, pagePods = PAGE_PODS, answerMs = ANSWER_MS } = this.#options;
    const until = AbortSignal.any([signal, AbortSignal.timeout(2 * answerMs)]);
    const query = {
      ...(labelSelector === '' ? {} : { labelSelector }),
      ...(paged ? { limit: pagePods } : {}),
      ...(continueToken === '' ? {} : { _continue: continueToken }),
    };
    try {
      const api = podsOf(await this.#signed(until), until);
      const list =
        namespace === null ? api.listPodForAllNamespaces(query) : api.listNamespacedPod({ namespace, ...query });
      const { items, metadata: { resourceVersion = '', _continue = '' } = {} } = await list;
      if (!Array.isArray(items) || resourceVersion === '') {
        return { kind: 'failed', problem: 'the answer of the API server is no list of pods' };
      }
      return { kind: 'page', items, resourceVersion, continueToken: _continue };
    } catch (error) {
      return this.#failure(error);
    }
  }

  async watch(resourceVersion: string, handlers: WatchHandlers, signal: AbortSignal): Promise<WatchEnd> {
    const { namespace, labelSelector, random = Math.random } = this.#options;
    const { silenceMs = SILENCE_MS, answerMs = ANSWER_MS } = this.#options;
    const path = namespace === null ? '/api/v1/pods' : `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods`;
    const query = {
      ...(labelSelector === '' ? {} : { labelSelector }),
      allowWatchBookmarks: true,
      resourceVersion,
      timeoutSeconds: Math.round(WATCH_SECS * (1 + random() / 2)),
    };
    try {
      const config = await this.#signed(AbortSignal.any([signal, AbortSignal.timeout(answerMs)]));
      await followPods({ config, path, query, answerMs, silenceMs }, handlers, signal);
      return { kind: 'ended' };
    } catch (error) {
      return this.#failure(error);
    }
  }

  /**
   * The cluster, once there are credentials for it. The client waits without an end for a program that is to give them,
   * and begins another one for each question; here one at a time is waited for.
   */
  async #signed(until: AbortSignal): Promise<KubeConfig> {
    this.#config ??= this.#options.cluster();
    const config = this.#config;
    this.#credentials ??= config.applyToHTTPSOptions({}).finally(() => {
      this.#credentials = null;
    });
    await beforeAbort(this.#credentials, until);
    return config;
  }

  /** What was known of the way to the server, or of who asks, may be old: it is looked for again. */
  #failure(error: unknown): Failure {
    const { code, statusCode, body, name } = jsonObject(error);
    const status = typeof code === 'number' ? code : statusCode;
    if (status === GONE) return { kind: 'gone' };
    if (typeof status !== 'number' || status === UNAUTHORIZED) this.#config = null;
    if (typeof status === 'number') {
      const message = messageIn(textOf(body)) || STATUS_CODES[status] || '';
      return { kind: 'failed', problem: `the API server answered ${status}: ${message}` };
    }
    const reason = name === 'AbortError' ? 'no answer in time' : messageOf(error);
    return { kind: 'failed', problem: `the API server cannot be asked: ${presentable(reason)}` };
  }
}

/** The API, for questions that end with `until`. */
function podsOf(config: KubeConfig, until: AbortSignal): CoreV1Api {
  const ends: Middleware = {
    async pre(request) {
      request.setSignal(until);
      return request;
    },
    post: async (response) => response,
  };
  const server = config.getCurrentCluster()?.server ?? '';
  const authMethods = { default: config };
  const baseServer = new ServerConfiguration(server, {});
  return new CoreV1Api(createConfiguration({ baseServer, authMethods, promiseMiddleware: [ends] }));
}

function beforeAbort<T>(work: Promise<T>, until: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = (): void => reject(new Error('no credentials in time'));
    until.addEventListener('abort', late, { once: true });
    if (until.aborted) late();
    work.then(resolve, reject);
  });
}

/** What a Status object says; the text itself of a proxy in between, which does not speak the API. */
function messageIn(text: string): string {
  try {
    return presentable(textOf(jsonObject(JSON.parse(text))['message']) || text);
  } catch {
    return presentable(text);
  }
}

/** An HTTP client that refuses a header shows it. */
function presentable(text: string): string {
  return text
    .replace(/Bearer\s+\S+/g, 'Bearer …')
    .slice(0, 300)
    .trim();
}
