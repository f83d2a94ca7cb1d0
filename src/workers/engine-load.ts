/** One data-parallel rank of an engine's load report (policies 3.3). A field that the engine left out is 0. */
export interface RankLoad {
  readonly rank: number;
  readonly runningRequests: number;
  readonly waitingRequests: number;
  /** Tokens of waiting requests that no cache holds. */
  readonly waitingUncachedTokens: number;
  readonly totalRequests: number;
  readonly usedTokens: number;
  readonly maxTokens: number;
  /** Share of the KV cache in use, 0 to 1. */
  readonly tokenUsage: number;
  /** Generated tokens per second. */
  readonly genThroughput: number;
  readonly cacheHitRate: number;
  readonly utilization: number;
  readonly maxRunningRequests: number;
  /** What a prefill or decode engine tells of its transfers; null from any other. */
  readonly transfer: TransferLoad | null;
}

/** KV transfers of one rank of a prefill/decode engine. A field that the engine left out is null. */
export interface TransferLoad {
  /** The text `null` stands for an engine that names none. */
  readonly role: 'prefill' | 'decode' | 'null';
  readonly kvLatencyMs: number | null;
  readonly kvSpeedGbPerSecond: number | null;
  readonly prefillQueueRequests: number | null;
  readonly decodeQueueRequests: number | null;
}

/** What an engine last said of itself, with the aggregates that decisions use. Immutable. */
export interface LoadReport {
  /** When it was received: milliseconds, monotonic. */
  readonly at: number;
  readonly ranks: readonly RankLoad[];
  /** Sums over ranks. */
  readonly runningRequests: number;
  readonly waitingRequests: number;
  readonly waitingUncachedTokens: number;
  readonly genThroughput: number;
  /** Mean over ranks, 0 without ranks. */
  readonly tokenUsage: number;
}

/**
 * Load of one worker instance in its engine's own words. Written only by the load monitor; the same object in every
 * snapshot the instance appears in.
 */
export interface EngineLoad {
  /** The report of the last poll; null when that poll brought none (policies 3.4). */
  readonly current: LoadReport | null;
  /** The last report of all, until it is stale (decisions 10); null before the first and after that. */
  readonly recent: LoadReport | null;
  /** Reports received so far: credit given since the last one counts, older credit does not (policies 1.5.3). */
  readonly reports: number;
}

/** The writable side, owned by the worker instance. */
export class EngineLoadRecord implements EngineLoad {
  #current: LoadReport | null = null;
  #recent: LoadReport | null = null;
  #reports = 0;

  get current(): LoadReport | null {
    return this.#current;
  }

  get recent(): LoadReport | null {
    return this.#recent;
  }

  get reports(): number {
    return this.#reports;
  }

  received(report: LoadReport): void {
    this.#current = report;
    this.#recent = report;
    this.#reports += 1;
  }

  /** A poll brought nothing. */
  missed(): void {
    this.#current = null;
  }

  /** What was last said is too old to be worth anything. */
  expired(): void {
    this.#current = null;
    this.#recent = null;
  }
}
