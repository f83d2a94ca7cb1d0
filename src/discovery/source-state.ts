import { isDeepStrictEqual } from 'node:util';
import type { SourcedWorker } from '../workers/sourced-worker.ts';
import type { DiscoveryObserver, DiscoverySource, SourceHealth, WorkerSink } from './source.ts';

/** What every source keeps: its health, its last word, and what it has already complained of. */
export class SourceState {
  readonly name: DiscoverySource;
  readonly #sink: WorkerSink;
  readonly #observer: DiscoveryObserver;
  #health: SourceHealth = 'unread';
  #problem: string | null = null;
  #said: readonly SourcedWorker[] = [];
  #notes = new Map<string, string>();

  constructor(name: DiscoverySource, sink: WorkerSink, observer: DiscoveryObserver) {
    this.name = name;
    this.#sink = sink;
    this.#observer = observer;
  }

  get health(): SourceHealth {
    return this.#health;
  }

  get problem(): string | null {
    return this.#problem;
  }

  /** The source was read: these are all of its workers. `notes`: what is odd about them, by subject. */
  say(workers: readonly SourcedWorker[], notes: ReadonlyMap<string, string> = new Map()): void {
    this.#said = workers;
    for (const [subject, reason] of notes) {
      if (this.#notes.get(subject) !== reason) this.#observer.noted(this.name, subject, reason);
    }
    this.#notes = new Map(notes);
    this.#tell();
  }

  /** Says the same again; nothing before the source was read. */
  repeat(): void {
    if (this.#health !== 'unread') this.#tell();
  }

  live(): void {
    this.#turn('live', null);
  }

  /** It cannot be read. A source that never could be stays unread. */
  stale(problem: string): void {
    this.#turn(this.#health === 'unread' ? 'unread' : 'stale', problem);
  }

  #turn(health: SourceHealth, problem: string | null): void {
    const before = [this.#health, this.#problem];
    this.#health = health;
    this.#problem = problem;
    if (!isDeepStrictEqual(before, [health, problem])) this.#observer.turned(this.name, health, problem);
  }

  #tell(): void {
    const started = performance.now();
    const changes = this.#sink.followSource(this.name, this.#said);
    this.#observer.applied(this.name, changes, this.#said.length, performance.now() - started);
  }
}
