import type { PinStore } from '../pins/pin-store.ts';
import type { Decision } from '../routing/decision.ts';
import type { Outcome } from '../workers/breaker.ts';
import { type Companion, type InFlightLedger, NEVER_LOGGED, type NewPick } from '../workers/in-flight-ledger.ts';
import type { PrefillRun } from './prefill-dispatch.ts';

export interface PrefillUnitParts {
  readonly ledger: InFlightLedger;
  readonly pins: PinStore;
  /** Milliseconds, monotonic. */
  readonly clock: () => number;
  /** Tells the circuit breaker of a worker how it did. */
  readonly attempted: (workerId: string, outcome: Outcome) => void;
  readonly onFailure: (error: unknown) => void;
}

/** The prefill of one request: counts on its worker until it is over, with the request at the latest (policies 2.5). */
export class PrefillUnit implements Companion {
  readonly #parts: PrefillUnitParts;
  readonly #pickId: string;
  readonly #decision: Decision;
  #run: PrefillRun | null = null;
  #over = false;

  /** @param decision on the prefill leg */
  constructor(parts: PrefillUnitParts, decision: Decision, pick: Pick<NewPick, 'pickId' | 'endpoint' | 'now'>) {
    this.#parts = parts;
    this.#decision = decision;
    this.#pickId = `${pick.pickId}/prefill`;
    const { worker, loadKey, pinKey, model } = decision;
    parts.ledger.open({ ...pick, pickId: this.#pickId, worker, loadKey, pinKey, model, periodicLogMs: NEVER_LOGGED });
  }

  /** What is told of the run from now on. */
  follow(run: PrefillRun): void {
    this.#run = run;
    run.done.then((outcome) => this.#done(outcome)).catch(this.#parts.onFailure);
  }

  #done(outcome: Outcome | null): void {
    this.#run = null;
    this.end();
    if (outcome !== null) this.#parts.attempted(this.#decision.worker.id, outcome);
  }

  /** The prefill is over, or there is none. */
  end(): void {
    if (this.#over) return;
    this.#over = true;
    const { ledger, pins, clock } = this.#parts;
    ledger.end(this.#pickId, 'end');
    if (this.#decision.pinKey !== null) pins.touch(this.#decision.pinKey, clock());
  }

  /** The request is over. A prefill whose decode was served is over as well, and its answer on the way. */
  released(served: boolean): void {
    this.end();
    if (!served) this.#run?.cancel();
  }
}
