/** Tells the circuit breakers what became of requests, from whichever source knows it; no attempt counts twice. */
import type { Outcome } from '../workers/breaker.ts';
import type { InFlightEntry, InFlightLedger } from '../workers/in-flight-ledger.ts';
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

  /** Envoy's router logged an attempt. */
  attempt(attempt: FailedAttempt): void {
    this.#tell(attempt.workerId, attempt.address, ofAttempt(attempt));
  }

  /** A request has ended. `entry`: what is known of its pick; undefined for that of another replica. */
  ended(end: RequestEnd, entry: InFlightEntry | undefined): void {
    if (entry?.outcomeTold !== true) this.#tell(end.workerId, end.servedAddress, ofEnd(end));
  }

  /** A request still runs; `status` is that of its answer, 0 before it has begun. */
  running(pickId: string, workerId: string, address: string, status: number): void {
    const outcome = ofRunning(status);
    if (outcome !== null && this.#ledger.tellOutcome(pickId)) this.#tell(workerId, address, outcome);
  }

  /** The response headers of a request pass by, where no access log is promised. Its entry, if one comes, counts no more. */
  answered(pickId: string, address: string, status: number, codeDetails: string | null): void {
    const outcome = ofAnswer(status, codeDetails);
    if (this.#ledger.tellOutcome(pickId)) this.#tell('', address, outcome);
  }

  #tell(workerId: string, address: string, outcome: Outcome | null): void {
    if (outcome === null) return;
    const { current } = this.#fleet;
    const worker = current.byId(workerId) ?? current.byAddress(address);
    if (worker === undefined) return;
    if (!current.ranked) {
      this.#fleet.attempted(worker.id, outcome);
      return;
    }
    // An attempt names no rank, and the ranks of an engine fail together: each of them is told.
    for (const each of current.workers) {
      if (each.address === worker.address) this.#fleet.attempted(each.id, outcome);
    }
  }
}
