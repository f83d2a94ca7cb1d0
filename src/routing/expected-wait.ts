import { type Random, randomBelow } from '../util/random.ts';
import type { EngineLoad, LoadReport } from '../workers/engine-load.ts';
import type { Worker } from '../workers/worker.ts';
import { EXPECTED_WAIT_DEFAULTS, type ExpectedWaitParameters } from './policy-parameters.ts';

/** Which report of a worker counts: that of the last poll, or the last one until it is stale (policies 1.5.2). */
export type ReportView = 'current' | 'recent';

/** A KV cache counts as no fuller than this, so that a score stays finite. */
const MOST_USAGE = 0.999;

const NOBODY: readonly Worker[] = [];

/** What was placed on a worker since the report with that number; credit since an older one counts as none. */
interface Credit {
  readonly engine: EngineLoad;
  reports: number;
  tokens: number;
  requests: number;
}

/** The lowest of the scores offered; each of equal ones is as likely to stay. Kept between decisions, to allocate none. */
class Lowest {
  worker: Worker | null = null;
  #score = 0;
  #ties = 0;

  reset(): void {
    this.worker = null;
  }

  offer(score: number, worker: Worker, taken: readonly Worker[], random: Random): void {
    if ((this.worker !== null && score > this.#score) || taken.includes(worker)) return;
    if (this.worker === null || score < this.#score) {
      this.#score = score;
      this.#ties = 0;
    }
    this.#ties += 1;
    if (this.#ties === 1 || randomBelow(random, this.#ties) === 0) this.worker = worker;
  }
}

/**
 * The worker that would begin soonest, by what the engines report and by what was placed since (policies 1.5). Without any
 * report it is the shortest queue. One instance is one ledger of credit. O(candidates). Hot path.
 */
export class ExpectedWait {
  readonly #parameters: ExpectedWaitParameters;
  readonly #view: ReportView;
  readonly #credits = new WeakMap<EngineLoad, Credit>();
  /** The credit last found at each place: a list of candidates mostly is the one before, and a look-up costs more. */
  readonly #row: Credit[] = [];
  readonly #lowest = new Lowest();

  constructor(parameters: ExpectedWaitParameters, view: ReportView) {
    this.#parameters = usable(parameters);
    this.#view = view;
  }

  /**
   * The candidate with the lowest score, which is credited with the request; ties are broken evenly. A single candidate
   * without a limit is taken unseen. Null when all have reached their limit of waiting requests.
   *
   * @param requestTokens length of the prompt; 0 or less when it is not known
   */
  choose(candidates: readonly Worker[], requestTokens: number, random: Random): Worker | null {
    if (candidates.length === 1 && this.#parameters.maxWaitingRequests === 0) return candidates[0] ?? null;
    const worker = this.#find(candidates, NOBODY, random);
    if (worker !== null) this.credit(worker, requestTokens);
    return worker;
  }

  /** The worker got a request without having been chosen here; counts as `choose` would count it. */
  credit({ engine }: Worker, requestTokens: number): void {
    const credit = this.#creditOf(engine);
    if (credit.reports !== engine.reports) {
      credit.reports = engine.reports;
      credit.tokens = 0;
      credit.requests = 0;
    }
    credit.tokens += requestTokens > 0 ? requestTokens : this.#parameters.meanPrefillTokens;
    credit.requests += 1;
  }

  /** The next one in the order of `choose` that is not in `taken`, null when none is left. Credits nothing. */
  next(candidates: readonly Worker[], taken: readonly Worker[], random: Random): Worker | null {
    return this.#find(candidates, taken, random);
  }

  #find(candidates: readonly Worker[], taken: readonly Worker[], random: Random): Worker | null {
    const parameters = this.#parameters;
    const limit = parameters.maxWaitingRequests;
    const lowest = this.#lowest;
    lowest.reset();
    let best = Number.POSITIVE_INFINITY;
    let reporting = 0;
    let silent = 0;
    let throughputs = 0;
    let throughput = 0;
    for (let i = 0; i < candidates.length; i++) {
      const worker = candidates[i];
      if (worker === undefined) continue;
      const engine = worker.engine;
      const report = this.#reportOf(engine);
      if (report === null) {
        silent++;
        continue;
      }
      const credit = this.#creditAt(i, engine);
      const counts = credit.reports === engine.reports;
      if (limit > 0 && Math.max(0, report.waitingRequests) + (counts ? credit.requests : 0) >= limit) continue;
      reporting++;
      if (usableThroughput(report.genThroughput)) {
        throughputs++;
        throughput += report.genThroughput;
      }
      const score = secondsToWait(report, counts ? credit.tokens : 0, parameters);
      if (score < best) best = score;
      lowest.offer(score, worker, taken, random);
    }
    if (silent === 0) return lowest.worker;

    const nominal = throughputs > 0 ? throughput / throughputs : parameters.defaultThroughput;
    for (let i = 0; i < candidates.length; i++) {
      const worker = candidates[i];
      if (worker === undefined || this.#reportOf(worker.engine) !== null) continue;
      const load = worker.load.requests;
      lowest.offer(
        reporting === 0 ? load : best + (load * parameters.meanPrefillTokens) / nominal,
        worker,
        taken,
        random,
      );
    }
    return lowest.worker;
  }

  #reportOf(engine: EngineLoad): LoadReport | null {
    return this.#view === 'recent' ? engine.recent : engine.current;
  }

  #creditAt(place: number, engine: EngineLoad): Credit {
    const last = this.#row[place];
    if (last !== undefined && last.engine === engine) return last;
    const credit = this.#creditOf(engine);
    this.#row[place] = credit;
    return credit;
  }

  #creditOf(engine: EngineLoad): Credit {
    const known = this.#credits.get(engine);
    if (known !== undefined) return known;
    const credit = { engine, reports: engine.reports, tokens: 0, requests: 0 };
    this.#credits.set(engine, credit);
    return credit;
  }
}

/**
 * Score of a worker that reports (policies 1.5.1), in seconds.
 *
 * @param credited tokens placed on it since the report
 */
export function secondsToWait(report: LoadReport, credited: number, parameters: ExpectedWaitParameters): number {
  const { waitingUncachedTokens, waitingRequests, genThroughput, tokenUsage } = report;
  const queued =
    waitingUncachedTokens > 0
      ? waitingUncachedTokens
      : waitingRequests > 0
        ? waitingRequests * parameters.meanPrefillTokens
        : 0;
  const throughput = usableThroughput(genThroughput) ? genThroughput : parameters.defaultThroughput;
  const usage = tokenUsage > 0 ? Math.min(tokenUsage, MOST_USAGE) : 0;
  return (queued + credited) / throughput + (parameters.kvPressureWeight * usage) / (1 - usage);
}

function usableThroughput(throughput: number): boolean {
  return throughput > 0 && throughput < Number.POSITIVE_INFINITY;
}

/** Policies 1.5.1: what an invalid value becomes. */
function usable(parameters: ExpectedWaitParameters): ExpectedWaitParameters {
  const { kvPressureWeight: weight, meanPrefillTokens: mean, defaultThroughput: throughput } = parameters;
  return {
    kvPressureWeight: Number.isFinite(weight) && weight >= 0 ? weight : EXPECTED_WAIT_DEFAULTS.kvPressureWeight,
    meanPrefillTokens: Math.max(1, mean),
    defaultThroughput: usableThroughput(throughput) ? throughput : EXPECTED_WAIT_DEFAULTS.defaultThroughput,
    maxWaitingRequests: parameters.maxWaitingRequests,
  };
}
