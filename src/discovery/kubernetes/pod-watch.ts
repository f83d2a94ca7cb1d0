import { Backoff } from './backoff.ts';
import { jsonObject, type Pod, readPod, textOf } from './pod.ts';
import type { PodApi, WatchEnd, WatchEvent } from './pod-api.ts';

/** Is told what the watch sees. */
export interface PodWatchListener {
  /** Every pod there is, by a key of its own, after a list and after each change. */
  pods(pods: ReadonlyMap<string, Pod>): void;
  /** Something of the protocol happened. */
  seen(event: 'added' | 'modified' | 'deleted' | 'bookmark' | 'listed' | 'resumed' | 'expired'): void;
  /** The API server answers. */
  live(): void;
  /** It does not; `tries` in a row. Pods known before stay. */
  failed(problem: string, tries: number): void;
}

export interface PodWatchOptions {
  readonly api: PodApi;
  readonly listener: PodWatchListener;
  readonly random?: () => number;
  /** Waits, but not beyond an abort. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly now?: () => number;
}

const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 30_000;
/** A watch that lasted so long, or saw anything, was a good one: the next is not held back for what went wrong before. */
const GOOD_WATCH_MS = 1_000;
/**
 * One that said nothing for so long, where bookmarks come once a minute, may wait for a version that the server does not
 * reach soon: a cluster restored from a backup counts from before.
 */
const MUTE_WATCH_MS = 120_000;

/**
 * Keeps a copy of the pods that a selector names: lists them, then follows the changes from there. A watch that breaks is
 * taken up where it was; one that the server cannot resume is replaced by a new list, which takes the place of the copy
 * whole. The copy is never emptied because the server does not answer.
 */
export class PodWatch {
  readonly #options: PodWatchOptions;
  readonly #abort = new AbortController();
  readonly #backoff: Backoff;
  #pods = new Map<string, Pod>();
  #tries = 0;

  constructor(options: PodWatchOptions) {
    this.#options = options;
    this.#backoff = new Backoff({
      firstMs: FIRST_PAUSE_MS,
      longestMs: LONGEST_PAUSE_MS,
      random: options.random ?? Math.random,
    });
    void this.#run();
  }

  close(): void {
    this.#abort.abort();
  }

  get #closed(): boolean {
    return this.#abort.signal.aborted;
  }

  async #run(): Promise<void> {
    while (!this.#closed) {
      const version = await this.#list();
      if (version !== null) await this.#follow(version);
    }
  }

  /** Lists all pods; answers with the version of the list, null when there is none. */
  async #list(): Promise<string | null> {
    const found = new Map<string, Pod>();
    const { api, listener } = this.#options;
    let continueToken = '';
    let paged = true;
    for (;;) {
      const answer = await api.list(continueToken, paged, this.#abort.signal);
      if (this.#closed) return null;
      if (answer.kind === 'failed') {
        await this.#missed(answer.problem);
        return null;
      }
      if (answer.kind === 'gone') {
        if (!paged) {
          await this.#missed('the list of pods expired while it was read');
          return null;
        }
        found.clear();
        continueToken = '';
        paged = false;
        continue;
      }
      for (const item of answer.items) {
        const pod = readPod(item);
        if (pod !== null) found.set(keyOf(pod), pod);
      }
      continueToken = answer.continueToken;
      if (continueToken !== '') continue;
      this.#pods = found;
      listener.seen('listed');
      this.#answered();
      listener.pods(found);
      return answer.resourceVersion;
    }
  }

  /** Follows the changes after `version` until only a new list helps. */
  async #follow(version: string): Promise<void> {
    const { api, listener, now = () => performance.now() } = this.#options;
    const at = { version };
    let opened = 0;
    let events = 0;
    while (!this.#closed) {
      const started = now();
      events = 0;
      const end: WatchEnd = await api.watch(
        at.version,
        {
          opened: () => {
            this.#answered();
            if (opened++ > 0) listener.seen('resumed');
          },
          event: (event) => {
            events += 1;
            return this.#take(event, at);
          },
        },
        this.#abort.signal,
      );
      if (this.#closed) return;
      const ms = now() - started;
      const lasted = ms >= GOOD_WATCH_MS;
      if (lasted || events > 0) this.#backoff.reset();
      if (end.kind === 'gone' || at.version === '' || (events === 0 && ms >= MUTE_WATCH_MS)) {
        listener.seen('expired');
        await this.#wait();
        return;
      }
      if (end.kind === 'failed') await this.#missed(end.problem);
      // The server ends a watch as it likes; one that does so at once is not asked without a pause.
      else if (!lasted) await this.#wait();
    }
  }

  /** Takes in one event, and where the next watch begins; nowhere after one that makes a list necessary. */
  #take({ type, object }: WatchEvent, at: { version: string }): boolean {
    const { listener } = this.#options;
    const version = textOf(jsonObject(jsonObject(object)['metadata'])['resourceVersion']);
    const pod = type === 'BOOKMARK' ? null : readPod(object);
    if (type !== 'BOOKMARK' && pod === null) {
      // Neither a change that could be understood nor one that could be left out.
      at.version = '';
      return false;
    }
    if (version !== '') at.version = version;
    if (type === 'BOOKMARK') listener.seen('bookmark');
    if (pod === null) return true;
    const key = keyOf(pod);
    if (type === 'DELETED') {
      if (this.#pods.get(key)?.uid === pod.uid) this.#pods.delete(key);
      listener.seen('deleted');
    } else {
      listener.seen(type === 'ADDED' ? 'added' : 'modified');
      this.#pods.set(key, pod);
    }
    listener.pods(this.#pods);
    return true;
  }

  #answered(): void {
    this.#tries = 0;
    this.#options.listener.live();
  }

  async #missed(problem: string): Promise<void> {
    this.#tries += 1;
    this.#options.listener.failed(problem, this.#tries);
    await this.#wait();
  }

  #wait(): Promise<void> {
    return this.#options.pause(this.#backoff.next(), this.#abort.signal);
  }
}

function keyOf({ namespace, name }: Pod): string {
  return `${namespace}/${name}`;
}
