import { setTimeout as pause } from 'node:timers/promises';
import { converse, type KeyPlace, Replies, type Reply } from './replies.ts';

export interface KeyLoadOptions {
  /** `http://host:port` of Envoy. */
  readonly url: string;
  readonly perSecond: number;
  /** Share of the requests that belong to new conversations, 0 to 1; a half when unset. */
  readonly fresh?: number;
  /** Conversations that were there before, 50 when unset. */
  readonly known?: number;
  /** Turns of each of them before the load begins, one after the other, so that every replica gets one; 6 when unset. */
  readonly warmUp?: number;
  /** Turns of a new conversation, 3 when unset. */
  readonly turns?: number;
  /** Seconds between two turns of a new conversation, about; a quarter when unset. */
  readonly apart?: number;
  readonly place: KeyPlace;
  readonly prefix?: string;
}

/** Requests at a steady rate, whatever happens to them: turns of known conversations, and new ones that begin all the time. */
export class KeyLoad {
  readonly #options: Required<KeyLoadOptions>;
  readonly #replies: Reply[] = [];
  readonly #open = new Set<Promise<void>>();
  /** Conversations that begin between two turns of one. */
  readonly #gap: number;
  #running: Promise<void> = Promise.resolve();
  #stopped = false;
  #old = 0;
  #new = 0;

  private constructor(options: KeyLoadOptions) {
    this.#options = { fresh: 0.5, known: 50, warmUp: 6, turns: 3, apart: 0.25, prefix: 'k', ...options };
    const { perSecond, fresh, apart, turns } = this.#options;
    this.#gap = Math.max(1, Math.round((perSecond * fresh * apart) / turns));
  }

  /** Lets every replica see each known conversation, then goes on at the rate. */
  static async start(options: KeyLoadOptions): Promise<KeyLoad> {
    const load = new KeyLoad(options);
    await load.#warmUp();
    load.#running = load.#run();
    return load;
  }

  /** In the order of their answers. */
  get replies(): Replies {
    return new Replies(this.#replies);
  }

  /** Requests that are not yet answered. */
  get open(): number {
    return this.#open.size;
  }

  /** Resolves with all replies when every request has ended. */
  async stop(): Promise<Replies> {
    this.#stopped = true;
    await this.#running;
    await Promise.all(this.#open);
    return this.replies;
  }

  async #warmUp(): Promise<void> {
    const { url, known, warmUp, place, prefix } = this.#options;
    const begin = async (index: number): Promise<void> => {
      for (let turn = 1; turn <= warmUp; turn++) {
        const { error } = await converse({ url, key: `${prefix}-old-${index}`, kind: 'known', turn, place });
        if (error !== null) throw new Error(error);
      }
    };
    for (let index = 0; index < known; index++) await begin(index);
  }

  async #run(): Promise<void> {
    const { perSecond, fresh } = this.#options;
    const startedAt = performance.now();
    for (let sent = 0; !this.#stopped; ) {
      const due = ((performance.now() - startedAt) / 1000) * perSecond;
      for (; sent < due; sent++) {
        const isFresh = Math.floor((sent + 1) * fresh) > Math.floor(sent * fresh);
        this.#send(startedAt + (sent / perSecond) * 1000, isFresh);
      }
      await pause(2);
    }
  }

  #send(at: number, isFresh: boolean): void {
    const asked = converse({ url: this.#options.url, place: this.#options.place, at, ...this.#next(isFresh) });
    const ended = asked.then((reply) => void this.#replies.push(reply));
    this.#open.add(ended);
    void ended.then(() => this.#open.delete(ended));
  }

  #next(isFresh: boolean): Pick<Reply, 'key' | 'kind'> & { readonly turn: number } {
    const { prefix, known, warmUp, turns } = this.#options;
    if (!isFresh) {
      const number = this.#old++;
      return { key: `${prefix}-old-${number % known}`, kind: 'known', turn: warmUp + 1 + Math.floor(number / known) };
    }
    // One begins with every row of requests, and those that began so many rows before take their next turns in it.
    const number = this.#new++;
    const slot = number % turns;
    const conversation = Math.floor(number / turns) - slot * this.#gap;
    // Of those that would have begun before the load did, the first turn is missing.
    const firstSlot = Math.max(0, Math.ceil(-conversation / this.#gap));
    return { key: `${prefix}-new-${conversation}`, kind: slot === firstSlot ? 'first' : 'later', turn: slot + 1 };
  }
}
