import type { WorkerInstance } from './worker-instance.ts';

/**
 * Half-opens open breakers when their time is over. SMG does it when the state is next read; a snapshot does not change by
 * being read, so here a timer makes the next one.
 */
export class BreakerTimers {
  readonly #timers = new Map<WorkerInstance, NodeJS.Timeout>();
  readonly #onElapsed: (instance: WorkerInstance) => void;
  #closed = false;

  /** @param onElapsed told when a breaker is half-open by the passing of time */
  constructor(onElapsed: (instance: WorkerInstance) => void) {
    this.#onElapsed = onElapsed;
  }

  /** To be called when a breaker may have changed its state. */
  follow(instance: WorkerInstance): void {
    this.forget(instance);
    if (this.#closed || instance.breaker.state !== 'open') return;
    const timer = setTimeout(() => {
      this.#timers.delete(instance);
      if (instance.breaker.elapse(performance.now())) this.#onElapsed(instance);
      // A timer may fire a moment before its time.
      else this.follow(instance);
    }, instance.breaker.openFor(performance.now()));
    this.#timers.set(instance, timer);
  }

  forget(instance: WorkerInstance): void {
    clearTimeout(this.#timers.get(instance));
    this.#timers.delete(instance);
  }

  /** For good: the last words of Envoy come while the service ends. */
  close(): void {
    this.#closed = true;
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }
}
