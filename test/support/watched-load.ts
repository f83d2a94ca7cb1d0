import { setTimeout as pause } from 'node:timers/promises';
import { MODEL } from './bodies.ts';
import { ask } from './http.ts';

/** One answer, as far as routing shows in it. */
export interface Seen {
  /** Conversation it belongs to. */
  readonly key: string;
  readonly status: number;
  /** Worker by its own word, `x-sim-worker`. */
  readonly worker: string;
  /** `x-smg-routed-worker-id`. */
  readonly stamp: string;
  /** `x-smg-decision`, empty when the service had no say. */
  readonly decision: string;
}

/** A steady mix of requests: keys in bodies and in headers, whole answers and events. Every answer is kept. */
export class WatchedLoad {
  readonly #url: string;
  readonly #perSecond: number;
  readonly #keys: number;
  readonly #seen: Seen[] = [];
  readonly #failures: string[] = [];
  readonly #open = new Set<Promise<void>>();
  readonly #running: Promise<void>;
  #sent = 0;
  #stopped = false;

  constructor(url: string, perSecond: number, keys: number) {
    this.#url = url;
    this.#perSecond = perSecond;
    this.#keys = keys;
    this.#running = this.#run();
  }

  /** In order of arrival. */
  get seen(): readonly Seen[] {
    return this.#seen;
  }

  /** Requests that got no whole answer, or another status than 200: the first few. */
  get failures(): readonly string[] {
    return this.#failures;
  }

  /** Requests that are not yet answered. */
  get open(): number {
    return this.#open.size;
  }

  /** Resolves when so many more were answered. */
  async more(count: number): Promise<void> {
    const goal = this.#seen.length + count;
    while (this.#seen.length < goal && this.#failures.length === 0) await pause(10);
  }

  /** Resolves when every request has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
    await Promise.all(this.#open);
  }

  async #run(): Promise<void> {
    const startedAt = performance.now();
    while (!this.#stopped) {
      const due = ((performance.now() - startedAt) / 1000) * this.#perSecond;
      while (this.#sent < due) this.#send(this.#sent++);
      await pause(4);
    }
  }

  #send(number: number): void {
    const key = `${number % 2 === 0 ? 'rid' : 'head'}-${number % this.#keys}`;
    const name = `${key}_t${number}`;
    const body = { model: MODEL, stream: number % 3 === 0, ...(number % 2 === 0 ? { rid: name } : {}) };
    const headers = number % 2 === 0 ? {} : { 'x-smg-routing-key': name };
    const path = number % 2 === 0 ? '/v1/chat/completions' : '/v1/responses';
    const ended = ask(this.#url, { path, body, headers }).then(
      (answer) => {
        const header = (of: string) => answer.headers[of] ?? '';
        if (answer.status !== 200) this.#failed(`${answer.status} ${answer.text}`);
        this.#seen.push({
          key,
          status: answer.status,
          worker: header('x-sim-worker'),
          stamp: header('x-smg-routed-worker-id'),
          decision: header('x-smg-decision'),
        });
      },
      (error: unknown) => this.#failed(String(error)),
    );
    this.#open.add(ended);
    void ended.then(() => this.#open.delete(ended));
  }

  #failed(what: string): void {
    if (this.#failures.length < 5) this.#failures.push(what);
  }
}

/** Conversations that met more than one worker. */
export function splits(seen: readonly Seen[]): readonly string[] {
  const workers = new Map<string, Set<string>>();
  for (const { key, worker } of seen) workers.set(key, (workers.get(key) ?? new Set()).add(worker));
  return [...workers].filter(([, met]) => met.size > 1).map(([key]) => key);
}
