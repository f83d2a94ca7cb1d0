/** Tells the circuit breakers what became of requests, from whichever source knows it; no attempt counts twice. */
import type { Outcome } from '../workers/breaker.ts';
import type { InFlightEntry, InFlightLedger } from '../workers/in-flight-ledger.ts';
import { servedWorker } from '../workers/served-worker.ts';
import type { SnapshotSource } from '../workers/snapshot-source.ts';
import { ofAnswer, ofAttempt, ofEnd, ofRunning } from './outcomes.ts';
import type { FailedAttempt, RequestEnd } from './request-end.ts';

/** Where the breakers are. The registry is one. */
export interface BreakerFleet extends SnapshotSource {
  attempted(workerId: string, outcome: Outcome): void;
}

export class BreakerFeed {
  readonly #fleet: BreakerFleet;
  readonly #ledger: InFlightLedger;

  constructor(fleet: BreakerFleet, ledger: InFlightLedger) {
    this.#fleet = fleet;
    this.#ledger = ledger;
  }

  /** Envoy's router logged an attempt. One without an answer speaks of the engine, and so of each of its ranks. */
  attempt(attempt: FailedAttempt): void {
    const outcome = ofAttempt(attempt);
    if (outcome === null) return;
    const { workerId, address, rank } = attempt;
    const { current } = this.#fleet;
    const worker = servedWorker(current, workerId, address, rank);
    if (worker === undefined) return;
    if (worker.rank === null || rank !== null) this.#fleet.attempted(worker.id, outcome);
    else for (const { id, url } of current.workers) if (url === worker.url) this.#fleet.attempted(id, outcome);
  }

  /** A request has ended. `entry`: what is known of its pick; undefined for that of another replica. */
  ended(end: RequestEnd, entry: InFlightEntry | undefined): void {
    if (entry?.outcomeTold === true) return;
    this.#tell(end.workerId, end.servedAddress, entry?.worker.rank ?? end.rank, ofEnd(end));
  }

  /** A request still runs; `status` is that of its answer, 0 before it has begun. */
  running(pickId: string, workerId: string, address: string, status: number): void {
    const outcome = ofRunning(status);
    if (outcome !== null && this.#ledger.tellOutcome(pickId)) {
      this.#tell(workerId, address, this.#rankOf(pickId), outcome);
    }
  }

  /**
   * The response headers of a request pass by, where no access log is promised. Its entry, if one comes, counts no more.
   *
   * @param skipped addresses that Envoy went past before
   */
  answered(
    pickId: string,
    address: string,
    status: number,
    codeDetails: string | null,
    skipped: readonly string[],
  ): void {
    if (!this.#ledger.tellOutcome(pickId)) return;
    const rank = this.#rankOf(pickId);
    this.#tell('', address, rank, ofAnswer(status, codeDetails));
    for (const one of skipped) this.#tell('', one, rank, 'failure');
  }

  #rankOf(pickId: string): number | null {
    return this.#ledger.get(pickId)?.worker.rank ?? null;
  }

  #tell(workerId: string, address: string, rank: number | null, outcome: Outcome | null): void {
    if (outcome === null) return;
    const worker = servedWorker(this.#fleet.current, workerId, address, rank);
    if (worker !== undefined) this.#fleet.attempted(worker.id, outcome);
  }
}
