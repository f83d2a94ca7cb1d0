import { Agent } from 'node:http';
import { Agent as TlsAgent } from 'node:https';
import type { Socket } from 'node:net';
import type { AskWorker } from '../ask-worker.ts';
import type { ConcurrencyGate } from '../concurrency-gate.ts';
import { NO_MODEL } from '../snapshot.ts';
import type { WorkerInstance } from '../worker-instance.ts';
import type { WorkerSpec } from '../worker-spec.ts';
import { isTls } from '../worker-url.ts';
import type { LoadObserver } from './load-observer.ts';
import { reportOfRank } from './load-report.ts';
import { LOAD_MAX_BYTES, LoadRoutes } from './load-routes.ts';
import { isOverloaded, type OverloadRule } from './overload.ts';
import { type PollOutcome, pollLoad } from './poll-load.ts';

/** What the loops of all workers share. */
export interface LoadLoopContext {
  readonly ask: AskWorker;
  readonly gate: ConcurrencyGate;
  readonly observer: LoadObserver;
  /** Takes in what the last poll says of a worker. */
  readonly judge: (instance: WorkerInstance, overloaded: boolean) => void;
  /** Intervals without a report after which the last one counts no more; 0: it always counts. */
  readonly staleIntervals: number;
  /** Milliseconds, monotonic. */
  readonly clock: () => number;
  readonly random: () => number;
}

/** Polls come up to this share early, so that the fleet is not asked in one burst. */
const JITTER = 0.1;
/** A poll that takes longer gives its place to the next worker, or a few that hang would hold up all. */
const SLOW_MS = 1_000;
/** Longest delay of a Node timer. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Asks one worker instance for its load until it is closed: at once, then each interval, never twice at a time. */
export class LoadLoop {
  /** The declaration it works by; another one needs another loop. */
  readonly spec: WorkerSpec;
  readonly #context: LoadLoopContext;
  readonly #instance: WorkerInstance;
  readonly #rule: OverloadRule;
  readonly #routes = new LoadRoutes();
  readonly #abort = new AbortController();
  /** Polls follow each other so fast that a connection for each would cost a third of all. */
  readonly #agent: Agent;
  #intervalMs: number;
  #polledAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #staleTimer: NodeJS.Timeout | undefined;
  #reports: boolean | null = null;

  constructor(context: LoadLoopContext, instance: WorkerInstance, intervalMs: number, rule: OverloadRule) {
    this.spec = instance.spec;
    this.#context = context;
    this.#instance = instance;
    this.#intervalMs = intervalMs;
    this.#rule = rule;
    const kept = { keepAlive: true, maxSockets: 1 };
    this.#agent = isTls(instance.spec.url.scheme) ? new TlsAgent(kept) : new Agent(kept);
    this.#next(0);
  }

  /** Another interval, from the next poll on. */
  every(intervalMs: number): void {
    if (intervalMs === this.#intervalMs) return;
    this.#intervalMs = intervalMs;
    // Undefined while a poll runs, which takes the new interval when it is done.
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#next(Math.max(0, this.#polledAt + intervalMs - this.#context.clock()));
  }

  /** What a running poll brings is dropped from now on. */
  close(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#staleTimer);
    // Node 24 hands a connection back to the agent whose question was given up while it was made.
    this.#agent.on('free', (socket: Socket) => socket.destroy());
    this.#abort.abort();
    this.#agent.destroy();
  }

  get #closed(): boolean {
    return this.#abort.signal.aborted;
  }

  #next(delayMs: number): void {
    this.#timer = setTimeout(() => void this.#turn(), delayMs);
  }

  async #turn(): Promise<void> {
    this.#timer = undefined;
    let poll: Promise<void> = Promise.resolve();
    await this.#context.gate.run(() => {
      poll = this.#poll();
      return settledWithin(poll, SLOW_MS);
    });
    await poll;
    if (!this.#closed) this.#next(this.#untilNextTick());
  }

  async #poll(): Promise<void> {
    if (this.#closed) return;
    const { ask, clock, observer } = this.#context;
    this.#polledAt = clock();
    const model = this.#instance.worker.models[0] ?? NO_MODEL;
    const kept = { maxBytes: LOAD_MAX_BYTES, signal: this.#abort.signal, agent: this.#agent };
    const get = (path: string, timeoutMs: number) =>
      ask(this.spec, this.#instance.address, { path, timeoutMs, ...kept });
    const outcome = await pollLoad(this.#routes, model, get, clock);
    if (this.#closed) return;
    observer.polled(this.#instance.worker, outcome.kind, clock() - this.#polledAt);
    this.#take(outcome);
  }

  /** A poll without a report takes the veto back: a worker that is not asked any more must not stay out for ever. */
  #take(outcome: PollOutcome): void {
    const { judge, observer } = this.#context;
    const { engine, worker } = this.#instance;
    const reports = outcome.kind === 'report';
    if (outcome.kind === 'report') {
      // An engine is asked at its base URL, and answers for all of its ranks.
      const report = reportOfRank(outcome.report, this.spec.url.rank);
      engine.received(report);
      this.#watchAge();
      judge(this.#instance, isOverloaded(report, this.#rule));
    } else {
      engine.missed();
      judge(this.#instance, false);
    }
    if (reports === this.#reports) return;
    this.#reports = reports;
    observer.reporting(worker, reports, outcome.kind === 'report' ? '' : outcome.reason);
  }

  #watchAge(): void {
    clearTimeout(this.#staleTimer);
    const { staleIntervals } = this.#context;
    if (staleIntervals === 0) return;
    this.#staleTimer = setTimeout(
      () => {
        this.#instance.engine.expired();
        this.#context.judge(this.#instance, false);
      },
      Math.min(staleIntervals * this.#intervalMs, MAX_TIMER_MS),
    );
  }

  /** Ticks that passed while a poll was running are left out. */
  #untilNextTick(): number {
    const { clock, random } = this.#context;
    const spentMs = clock() - this.#polledAt;
    const ticks = Math.floor(spentMs / this.#intervalMs) + 1;
    return Math.max(0, ticks * this.#intervalMs - spentMs - JITTER * random() * this.#intervalMs);
  }
}

/** Resolves when `task` has settled or the time is over. `task` must not reject. */
function settledWithin(task: Promise<void>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    void task.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
