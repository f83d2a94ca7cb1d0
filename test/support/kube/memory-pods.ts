import type { ListAnswer, PodApi, WatchEnd, WatchHandlers } from '../../../src/discovery/kubernetes/pod-api.ts';
import { PodLog } from './pod-log.ts';

const ALL = { namespace: null, labels: '' };

/** An API server in memory that fails as a test tells it to. */
export class MemoryPods implements PodApi {
  readonly log = new PodLog();
  readonly pagePods: number;
  /** Questions in a row that fail. */
  failures = 0;
  lists = 0;
  watches = 0;
  #breakWatch: (end: WatchEnd) => void = () => {};

  constructor(pagePods = 2) {
    this.pagePods = pagePods;
  }

  /** Ends the watch that runs, in mid air. */
  cut(): void {
    this.#breakWatch({ kind: 'failed', problem: 'cut' });
  }

  end(): void {
    this.#breakWatch({ kind: 'ended' });
  }

  async list(continueToken: string, paged: boolean): Promise<ListAnswer> {
    this.lists += 1;
    await Promise.resolve();
    if (this.#fails()) return { kind: 'failed', problem: 'the test says so' };
    const [version = this.log.version, from = 0] = continueToken.split('+').filter(Boolean).map(Number);
    if (this.log.isGone(version)) return { kind: 'gone' };
    const all = this.log.list(ALL);
    const to = paged ? from + this.pagePods : all.length;
    const next = to < all.length ? `${version}+${to}` : '';
    return { kind: 'page', items: all.slice(from, to), resourceVersion: String(version), continueToken: next };
  }

  watch(resourceVersion: string, handlers: WatchHandlers, signal: AbortSignal): Promise<WatchEnd> {
    this.watches += 1;
    let version = Number(resourceVersion);
    return new Promise((resolve) => {
      if (this.#fails()) return resolve({ kind: 'failed', problem: 'the test says so' });
      if (this.log.isGone(version)) return resolve({ kind: 'gone' });
      const follow = (): void => {
        for (const event of this.log.since(version, ALL)) handlers.event(event);
        version = this.log.version;
      };
      const unfollow = this.log.onChange(follow);
      const finish = (end: WatchEnd): void => {
        unfollow();
        this.#breakWatch = () => {};
        resolve(end);
      };
      this.#breakWatch = finish;
      signal.addEventListener('abort', () => finish({ kind: 'ended' }));
      handlers.opened();
      follow();
      return undefined;
    });
  }

  #fails(): boolean {
    if (this.failures === 0) return false;
    this.failures -= 1;
    return true;
  }
}
