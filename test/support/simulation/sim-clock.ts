import type { Timers } from '../../../src/util/timers.ts';

interface Due {
  readonly at: number;
  readonly order: number;
  run: (() => void) | null;
}

/** Virtual time: what is due runs in order of time, one after the other, and promises come to rest in between. */
export class SimClock implements Timers {
  now = 0;
  #order = 0;
  /** A binary heap, the next one first. */
  readonly #heap: Due[] = [];

  after(ms: number, run: () => void): () => void {
    const due: Due = { at: this.now + Math.max(0, ms), order: this.#order++, run };
    this.#push(due);
    return () => {
      due.run = null;
    };
  }

  afterReading(ms: number, run: () => void): () => void {
    return this.after(ms, run);
  }

  /** Lets time pass; `rested` is called after each thing that happened. */
  async runUntil(end: number, rested: () => void): Promise<void> {
    for (;;) {
      const next = this.#heap[0];
      if (next === undefined || next.at > end) break;
      this.#pop();
      if (next.run === null) continue;
      this.now = next.at;
      next.run();
      await promisesRest();
      rested();
    }
    this.now = end;
  }

  #push(due: Due): void {
    const heap = this.#heap;
    let i = heap.push(due) - 1;
    while (i > 0) {
      const parent = (i - 1) >> 1;
      if (!before(due, heap[parent]!)) break;
      heap[i] = heap[parent]!;
      i = parent;
    }
    heap[i] = due;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop()!;
    if (heap.length === 0) return;
    let i = 0;
    for (;;) {
      let child = 2 * i + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && before(heap[child + 1]!, heap[child]!)) child++;
      if (!before(heap[child]!, last)) break;
      heap[i] = heap[child]!;
      i = child;
    }
    heap[i] = last;
  }
}

function before(a: Due, b: Due): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

/** The queue of ticks is looked at when no promise is left to go on. */
export function promisesRest(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}

/** Timers of one owner, who must not leave any behind. */
export class OwnTimers implements Timers {
  readonly #clock: SimClock;
  readonly #running = new Set<object>();

  constructor(clock: SimClock) {
    this.#clock = clock;
  }

  get running(): number {
    return this.#running.size;
  }

  after(ms: number, run: () => void): () => void {
    const token = {};
    this.#running.add(token);
    const stop = this.#clock.after(ms, () => {
      this.#running.delete(token);
      run();
    });
    return () => {
      this.#running.delete(token);
      stop();
    };
  }

  afterReading(ms: number, run: () => void): () => void {
    return this.after(ms, run);
  }
}
