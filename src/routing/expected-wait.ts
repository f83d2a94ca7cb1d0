import type { Random } from '../util/random.ts';
import type { EngineLoad, LoadReport } from '../workers/engine-load.ts';
import { NO_WORKERS, type Worker } from '../workers/worker.ts';
import { lowest, OUT, roomFor } from './lowest.ts';
import { EXPECTED_WAIT_DEFAULTS, type ExpectedWaitParameters } from './policy-parameters.ts';
import type { Rehearsal, Weight } from './rehearsal.ts';

/** Which report of a worker counts: that of the last poll, or the last one until it is stale (policies 1.5.2). */
export type ReportView = 'current' | 'recent';

/** A KV cache counts as no fuller than this, so that a score stays finite. */
const MOST_USAGE = 0.999;

/** What was placed on a worker since a report of its engine, and the score that follows from both. */
interface Credit {
  readonly report: LoadReport;
  tokens: number;
  requests: number;
  score: number;
}

/**
 * The worker that would begin soonest, by what the engines report and by what was placed since (policies 1.5). Without any
 * report it is the shortest queue. One instance is one ledger of credit. O(candidates). Hot path.
 */
export class ExpectedWait {
  readonly #parameters: ExpectedWaitParameters;
  readonly #view: ReportView;
  /** Credit ends with its report, which is an object of its own for each poll. */
  readonly #credits = new WeakMap<LoadReport, Credit>();
  /** The credit last found at each place: a list of candidates mostly is the one before, and a look-up costs more. */
  readonly #row: Credit[] = [];
  #scores: Float64Array = new Float64Array(16);

  constructor(parameters: ExpectedWaitParameters, view: ReportView) {
    this.#parameters = usable(parameters);
    this.#view = view;
  }

  /**
   * The candidate with the lowest score, which is credited with the request; ties are broken evenly. A single candidate
   * without a limit is taken unseen. Null when all have reached their limit of waiting requests.
   *
   * @param requestTokens length of the prompt; 0 or less when it is not known
   * @param rehearsal gets to know how to take the credit back
   */
  choose(
    candidates: readonly Worker[],
    requestTokens: number,
    random: Random,
    rehearsal: Rehearsal | null = null,
  ): Worker | null {
    if (candidates.length === 1 && this.#parameters.maxWaitingRequests === 0) return candidates[0] ?? null;
    const worker = this.next(candidates, NO_WORKERS, random);
    if (worker !== null) this.credit(worker, requestTokens, rehearsal);
    return worker;
  }

  /** The worker got a request without having been chosen here; counts as `choose` would count it. */
  credit({ engine }: Worker, requestTokens: number, rehearsal: Rehearsal | null = null): void {
    const report = this.#reportOf(engine);
    if (report === null) return;
    const credit = this.#creditOf(report);
    if (rehearsal !== null) {
      const before = { ...credit };
      rehearsal.changed(() => Object.assign(credit, before));
    }
    credit.tokens += requestTokens > 0 ? requestTokens : this.#parameters.meanPrefillTokens;
    credit.requests += 1;
    credit.score = secondsToWait(report, credit.tokens, this.#parameters);
  }

  /** The next one in the order of `choose` that is not in `taken`, null when none is left. Credits nothing. */
  next(candidates: readonly Worker[], taken: readonly Worker[], random: Random): Worker | null {
    this.#score(candidates);
    return lowest(this.#scores, candidates, taken, random);
  }

  /** What `next` goes by: seconds to wait where one of them reports, else requests in flight; null has reached its limit. */
  weigh(candidates: readonly Worker[]): Weight {
    const reporting = this.#score(candidates);
    const values = candidates.map((_, place) => this.#scores[place] ?? OUT).map((score) => (score < 0 ? null : score));
    return { name: reporting === 0 ? 'requests' : 'expected_wait_secs', values };
  }

  #score(candidates: readonly Worker[]): number {
    this.#scores = roomFor(this.#scores, candidates.length);
    const reporting = this.#scoreReporting(candidates);
    if (reporting === 0) this.#scoreByLoad(candidates);
    else if (reporting < candidates.length) this.#scoreSilent(candidates);
    return reporting;
  }

  /** Answers with the number of candidates that report. */
  #scoreReporting(candidates: readonly Worker[]): number {
    const scores = this.#scores;
    const limit = this.#parameters.maxWaitingRequests;
    let reporting = 0;
    for (let i = 0; i < candidates.length; i++) {
      const report = this.#reportAt(candidates, i);
      if (report === null) continue;
      reporting++;
      const credit = this.#creditAt(i, report);
      const full = limit > 0 && Math.max(0, report.waitingRequests) + credit.requests >= limit;
      scores[i] = full ? OUT : credit.score;
    }
    return reporting;
  }

  #scoreByLoad(candidates: readonly Worker[]): void {
    for (let i = 0; i < candidates.length; i++) this.#scores[i] = candidates[i]?.load.requests ?? OUT;
  }

  /** Policies 1.5.2: a silent worker stands behind the best that reports by its load, or all silent ones by load alone. */
  #scoreSilent(candidates: readonly Worker[]): void {
    const scores = this.#scores;
    const { meanPrefillTokens, defaultThroughput } = this.#parameters;
    let best = OUT;
    let throughputs = 0;
    let throughput = 0;
    for (let i = 0; i < candidates.length; i++) {
      const report = this.#reportAt(candidates, i);
      const score = scores[i] ?? OUT;
      if (report === null || score === OUT) continue;
      if (best === OUT || score < best) best = score;
      if (!usableThroughput(report.genThroughput)) continue;
      throughputs++;
      throughput += report.genThroughput;
    }
    const nominal = throughputs > 0 ? throughput / throughputs : defaultThroughput;
    for (let i = 0; i < candidates.length; i++) {
      if (this.#reportAt(candidates, i) !== null) continue;
      const load = candidates[i]?.load.requests ?? 0;
      scores[i] = best === OUT ? load : best + (load * meanPrefillTokens) / nominal;
    }
  }

  #reportAt(candidates: readonly Worker[], place: number): LoadReport | null {
    const worker = candidates[place];
    return worker === undefined ? null : this.#reportOf(worker.engine);
  }

  #reportOf(engine: EngineLoad): LoadReport | null {
    return this.#view === 'recent' ? engine.recent : engine.current;
  }

  #creditAt(place: number, report: LoadReport): Credit {
    const last = this.#row[place];
    if (last !== undefined && last.report === report) return last;
    const credit = this.#creditOf(report);
    this.#row[place] = credit;
    return credit;
  }

  #creditOf(report: LoadReport): Credit {
    const known = this.#credits.get(report);
    if (known !== undefined) return known;
    const credit = { report, tokens: 0, requests: 0, score: secondsToWait(report, 0, this.#parameters) };
    this.#credits.set(report, credit);
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
