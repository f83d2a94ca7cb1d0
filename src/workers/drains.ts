import type { WorkerInstance } from './worker-instance.ts';

export interface DrainsOptions {
  /** Longest wait of a removal for requests in flight, in milliseconds. */
  readonly settleMs: number;
  /** Longest life of pins on a softly draining worker, in milliseconds. */
  readonly deadlineMs: number;
  /** The deadline of a soft drain is over: the worker keeps no pins any more. */
  readonly onDeadline: (instance: WorkerInstance) => void;
  /** The wait of a removal is over. */
  readonly onSettled: (instance: WorkerInstance) => void;
}

/** How often a removal looks whether its last request has ended. */
const SETTLE_POLL_MS = 50;
/** Longest delay of a Node timer. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** The workers on their way out, and what they wait for (decisions 40). Sets their `drain`; whoever asks brings them up to date. */
export class Drains {
  readonly #options: DrainsOptions;
  readonly #timers = new Map<WorkerInstance, NodeJS.Timeout>();

  constructor(options: DrainsOptions) {
    this.#options = options;
  }

  /** No new keys; pinned keys stay until the deadline. Nothing for a worker that drains already. */
  beginSoft(instance: WorkerInstance): void {
    if (instance.drain !== null) return;
    instance.drain = { kind: 'soft', pinsKept: true };
    const { deadlineMs, onDeadline } = this.#options;
    const timer = setTimeout(
      () => {
        this.#timers.delete(instance);
        instance.drain = { kind: 'soft', pinsKept: false };
        onDeadline(instance);
      },
      Math.min(deadlineMs, MAX_TIMER_MS),
    );
    this.#timers.set(instance, timer);
  }

  /** Takes no more requests, and is settled when those in flight ended or the settle time is over. */
  beginRemoval(instance: WorkerInstance): void {
    if (instance.drain?.kind === 'removal' && !instance.drain.announced) return;
    this.end(instance);
    instance.drain = { kind: 'removal', announced: false };
    const { settleMs, onSettled } = this.#options;
    const deadline = performance.now() + settleMs;
    const timer = setInterval(() => {
      if (instance.load.requests === 0 || performance.now() >= deadline) onSettled(instance);
    }, SETTLE_POLL_MS);
    this.#timers.set(instance, timer);
  }

  /** Takes no more requests from now on, and is removed when its source names it no more. */
  announceRemoval(instance: WorkerInstance): void {
    if (instance.drain?.kind === 'removal') return;
    this.end(instance);
    instance.drain = { kind: 'removal', announced: true };
  }

  end(instance: WorkerInstance): void {
    clearTimeout(this.#timers.get(instance));
    this.#timers.delete(instance);
    instance.drain = null;
  }

  close(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }
}
