import { setTimeout as pause } from 'node:timers/promises';
import { type Answer, ask } from './http.ts';

export interface LoadResult {
  readonly sent: number;
  /** What did not end with 200, in words. */
  readonly failures: readonly string[];
  /** Answers by `x-sim-worker`. */
  readonly byWorker: Readonly<Record<string, number>>;
  /** Requests a second that were really sent. */
  readonly rate: number;
}

/** Conversations that go on at the same time, and the turns each has; every few requests one ends and another begins. */
const ABREAST = 20;
const TURNS = 10;

/** Chat requests at a steady rate, whatever happens to them. */
export class SteadyLoad {
  readonly #url: string;
  readonly #perSecond: number;
  readonly #startedAt = performance.now();
  readonly #failures: string[] = [];
  readonly #byWorker: Record<string, number> = {};
  readonly #open = new Set<Promise<void>>();
  readonly #running: Promise<void>;
  #sent = 0;
  #stopped = false;

  /** Starts at once. */
  constructor(url: string, perSecond: number) {
    this.#url = url;
    this.#perSecond = perSecond;
    this.#running = this.#run();
  }

  /** Answers a worker has given so far. */
  answersOf(worker: string): number {
    return this.#byWorker[worker] ?? 0;
  }

  /** Resolves when every request has ended. */
  async stop(): Promise<LoadResult> {
    this.#stopped = true;
    const seconds = (performance.now() - this.#startedAt) / 1000;
    await this.#running;
    await Promise.all(this.#open);
    const rate = this.#sent / seconds;
    return { sent: this.#sent, failures: this.#failures, byWorker: { ...this.#byWorker }, rate };
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      const due = ((performance.now() - this.#startedAt) / 1000) * this.#perSecond;
      while (this.#sent < due) this.#send();
      await pause(4);
    }
  }

  #send(): void {
    const number = this.#sent++;
    const place = number % ABREAST;
    const turn = Math.floor(number / ABREAST) + place;
    const rid = `load-${place}-${Math.floor(turn / TURNS)}_t${turn % TURNS}`;
    const request = ask(this.#url, { path: '/v1/chat/completions', body: { model: 'sim-model', rid, messages: [] } });
    const ended = request.then(
      (answer) => this.#note(answer),
      (error: unknown) => void this.#failures.push(String(error)),
    );
    this.#open.add(ended);
    void ended.then(() => this.#open.delete(ended));
  }

  #note({ status, headers, text }: Answer): void {
    if (status !== 200) return void this.#failures.push(`${status} ${text}`);
    const worker = headers['x-sim-worker'] ?? '';
    this.#byWorker[worker] = (this.#byWorker[worker] ?? 0) + 1;
  }
}
