import { getHeapStatistics } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Growth that is no leak: caches of the engine, and what a garbage collection leaves by chance. */
const NOISE_BYTES = 4 * 1024 * 1024;
/** Fewer samples tell nothing: the least of a quarter has to be of several. */
const FEWEST = 16;

/** Memory in use over a run, each time after a garbage collection. */
export class MemoryWatch {
  readonly #collect = runInNewContext('globalThis.gc') as (() => void) | undefined;
  readonly samples: number[] = [];

  /** @param kept bytes that the run itself keeps on purpose */
  sample(kept: number): void {
    if (this.#collect === undefined) return;
    // The second one takes what only the finalizers of the first let go of.
    this.#collect();
    this.#collect();
    const { used_heap_size, external_memory } = getHeapStatistics();
    this.samples.push(used_heap_size + external_memory - kept);
  }

  /** Bytes from the second quarter of the run to the last: the least of each, since garbage only adds. */
  get growth(): number {
    const { samples } = this;
    const quarter = samples.length >> 2;
    if (samples.length < FEWEST) return 0;
    return Math.min(...samples.slice(-quarter)) - Math.min(...samples.slice(quarter, 2 * quarter));
  }

  get leaks(): boolean {
    return this.growth > NOISE_BYTES;
  }
}
