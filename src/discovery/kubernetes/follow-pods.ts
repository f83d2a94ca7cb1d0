import { ApiException, type KubeConfig, Watch } from '@kubernetes/client-node';
import { jsonObject, textOf } from './pod.ts';
import type { WatchHandlers } from './pod-api.ts';

export interface PodStream {
  readonly config: KubeConfig;
  readonly path: string;
  readonly query: Readonly<Record<string, string | number | boolean>>;
  /** Longest wait for the beginning of the answer, credentials included, in milliseconds. */
  readonly answerMs: number;
  /** Longest time without an event, in milliseconds. */
  readonly silenceMs: number;
}

/**
 * One watch, by the client's `Watch`. That one waits without an end for an answer, takes no notice of a connection that has
 * gone silent, and can be stopped only once it was answered: both times, and the socket, are kept here.
 *
 * Resolves when the server ends the watch, or a handler does; rejects with whatever else ends it.
 */
export function followPods(stream: PodStream, handlers: WatchHandlers, signal: AbortSignal): Promise<void> {
  const { config, path, query, answerMs, silenceMs } = stream;
  return new Promise((resolve, reject) => {
    let over = false;
    let free = (): void => {};
    let timer = setTimeout(() => finish(new Error('no answer in time')), answerMs);
    const stop = (): void => finish(new Error('the watch was stopped'));
    const finish = (error: unknown): void => {
      if (over) return;
      over = true;
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
      free();
      if (error === null || error === undefined) resolve();
      else reject(error);
    };
    signal.addEventListener('abort', stop);
    if (signal.aborted) stop();

    /** The same credentials; tells of the agent, which has the socket from the first moment. */
    const dialing: KubeConfig = Object.create(config, {
      applyToFetchOptions: {
        value: async (options: Parameters<KubeConfig['applyToFetchOptions']>[0]) => {
          const init = await config.applyToFetchOptions({ ...options, timeout: answerMs });
          if (over) throw new Error('stopped');
          const { agent } = init;
          free = () => typeof agent === 'object' && agent.destroy();
          return init;
        },
      },
    });
    const event = (type: string, object: unknown): void => {
      if (over) return;
      timer.refresh();
      if (type === 'ERROR') finish(errorOf(object));
      else if (!handlers.event({ type, object })) finish(null);
    };
    new Watch(dialing).watch(path, { ...query }, event, finish).then((answered) => {
      if (over) return answered.abort();
      clearTimeout(timer);
      timer = setTimeout(() => finish(new Error('the watch has gone silent')), silenceMs);
      handlers.opened();
    }, finish);
  });
}

/** @param status the Status object of an `ERROR` event */
function errorOf(status: unknown): ApiException<string> {
  const { code, message } = jsonObject(status);
  return new ApiException(typeof code === 'number' ? code : 500, '', textOf(message), {});
}
