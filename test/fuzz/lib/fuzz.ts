import type { Coverage } from './coverage.ts';
import { MemoryWatch } from './memory.ts';
import { mutate } from './mutate.ts';
import { Random } from './random.ts';
import type { Target } from './target.ts';

const SMALL_BATCH = 32;
const LARGE_BATCH = 4096;
const MEMORY_SAMPLES = 80;
const MOST_KEPT = 4096;
const SLOW_TRIES = 3;

export interface FuzzOptions {
  readonly inputs: number;
  readonly seconds: number;
  readonly seed: number;
  readonly corpus: readonly Buffer[];
  /** Null: only the corpus guides. */
  readonly coverage: Coverage | null;
  /** Told before each input; must be cheap. */
  readonly onInput: (input: Buffer) => void;
}

export interface FuzzResult {
  readonly inputs: number;
  readonly seconds: number;
  readonly slowestMs: number;
  readonly memoryGrowth: number;
  readonly leaks: boolean;
  /** In use, over the run. */
  readonly memory: readonly number[];
  /** Inputs that reached a new branch. */
  readonly kept: readonly Buffer[];
  readonly finding: Finding | null;
}

export interface Finding {
  readonly input: Buffer;
  readonly message: string;
}

/** Plays the corpus, then new inputs until one fails or the bounds are reached. */
export async function fuzz(target: Target, options: FuzzOptions): Promise<FuzzResult> {
  return new Run(target, options).play();
}

class Run {
  readonly #target: Target;
  readonly #options: FuzzOptions;
  readonly #random: Random;
  readonly #pool: Buffer[];
  readonly #kept: Buffer[] = [];
  readonly #memory = new MemoryWatch();
  readonly #started = performance.now();
  #keptBytes = 0;
  #inputs = 0;
  #slowestMs = 0;
  #finding: Finding | null = null;

  constructor(target: Target, options: FuzzOptions) {
    this.#target = target;
    this.#options = options;
    this.#random = new Random(options.seed);
    this.#pool = [...options.corpus];
  }

  async play(): Promise<FuzzResult> {
    const { coverage, inputs, seconds } = this.#options;
    await this.#checkAll(this.#pool);
    coverage?.grew();
    const end = this.#started + seconds * 1000;
    let size = SMALL_BATCH;
    let sampleAt = 0;
    while (this.#finding === null && this.#inputs < inputs && performance.now() < end) {
      const batch = Array.from({ length: Math.min(size, inputs - this.#inputs) }, () => this.#next());
      await this.#checkAll(batch);
      if (coverage?.grew() && this.#finding === null) {
        await this.#keepThoseThatGrow(batch, coverage);
        size = SMALL_BATCH;
      } else size = Math.min(LARGE_BATCH, size * 2);
      const done = Math.max(this.#inputs / inputs, (performance.now() - this.#started) / (seconds * 1000));
      if (done >= sampleAt) {
        this.#memory.sample(this.#keptBytes);
        sampleAt += 1 / MEMORY_SAMPLES;
      }
    }
    return {
      inputs: this.#inputs,
      seconds: (performance.now() - this.#started) / 1000,
      slowestMs: this.#slowestMs,
      memoryGrowth: this.#memory.growth,
      leaks: this.#memory.leaks,
      memory: this.#memory.samples,
      kept: this.#kept,
      finding: this.#finding,
    };
  }

  #next(): Buffer {
    const random = this.#random;
    if (this.#pool.length === 0 || random.below(5) < 2) {
      const fresh = this.#target.generate(random);
      return random.once(4) ? mutate(random, fresh, fresh, this.#target.tokens) : fresh;
    }
    return mutate(random, random.pick(this.#pool), random.pick(this.#pool), this.#target.tokens);
  }

  async #checkAll(batch: readonly Buffer[]): Promise<void> {
    for (const input of batch) {
      this.#options.onInput(input);
      this.#inputs += 1;
      const start = performance.now();
      try {
        const pending = this.#target.check(input);
        if (pending !== undefined) await pending;
      } catch (error) {
        this.#finding = { input, message: error instanceof Error ? (error.stack ?? error.message) : String(error) };
        return;
      }
      const took = performance.now() - start;
      if (took > this.#target.slowMs && (await this.#isSlow(input))) return;
    }
  }

  /** The machine does other things too: an input is slow when it is so every time. */
  async #isSlow(input: Buffer): Promise<boolean> {
    let least = Number.POSITIVE_INFINITY;
    for (let i = 0; i < SLOW_TRIES; i++) {
      const start = performance.now();
      await this.#target.check(input);
      least = Math.min(least, performance.now() - start);
    }
    this.#slowestMs = Math.max(this.#slowestMs, least);
    if (least <= this.#target.slowMs) return false;
    this.#finding = { input, message: `slow: ${least.toFixed(1)} ms for ${input.length} bytes` };
    return true;
  }

  /** What is new was told for the batch as a whole; so everything is told again, one by one. */
  async #keepThoseThatGrow(batch: readonly Buffer[], coverage: Coverage): Promise<void> {
    coverage.rewind();
    for (const input of batch) {
      if (this.#pool.length >= MOST_KEPT) return;
      this.#options.onInput(input);
      await this.#target.check(input);
      if (!coverage.grew()) continue;
      this.#pool.push(input);
      this.#kept.push(input);
      this.#keptBytes += input.length;
    }
  }
}
