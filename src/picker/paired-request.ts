/**
 * One request on its way to two workers (policies 4, decisions 27): starts its prefill, waits until the decode leg may
 * begin, and tries another pair when the prefill failed.
 */
import type { Decision, Outcome } from '../routing/decision.ts';
import type { Eligibility } from '../routing/eligibility.ts';
import type { EndpointLabel } from '../telemetry/endpoint-label.ts';
import type { Random } from '../util/random.ts';
import { NEVER_LOGGED } from '../workers/in-flight-ledger.ts';
import type { Worker } from '../workers/worker.ts';
import type { Answer, DeferredAnswer, FinalAnswer, PassAnswer } from './answer.ts';
import type { PickCounters } from './pick-counters.ts';
import type { Handoff, PrefillDispatch, PrefillFailure, PrefillOrder, PrefillRun } from './prefill-dispatch.ts';
import { PrefillUnit, type PrefillUnitParts } from './prefill-unit.ts';
import { isRetried, type RetryRules, retryDelayMs } from './retry-delay.ts';

export interface PairedRequestParts extends PrefillUnitParts {
  readonly dispatch: PrefillDispatch;
  readonly counters: PickCounters;
  readonly random: Random;
}

/** What stays the same over all tries of a request, and what becomes of them. */
export interface PairedRequestPlan {
  readonly pickId: string;
  readonly endpoint: EndpointLabel;
  readonly periodicLogMs: number;
  readonly order: Omit<PrefillOrder, 'prefill' | 'decode'>;
  readonly retry: RetryRules;
  /** Chooses another pair, moving no pin yet. `eligible` leaves out whom this request failed at. */
  readonly again: (eligible: Eligibility | null) => Outcome;
  /** The prefill went well at another pair: the pins follow. */
  readonly keep: (decision: Decision) => void;
  readonly placed: (decision: Decision, handoff: Handoff) => FinalAnswer;
  readonly refused: (failure: PrefillFailure) => FinalAnswer;
}

const PASS: PassAnswer = { kind: 'pass' };
const GRACE_MS = 100;

export class PairedRequest implements DeferredAnswer {
  readonly kind = 'deferred';
  /** Of the first prefill; all tries together have no more. */
  timeoutMs = 0;
  readonly answer: Promise<FinalAnswer>;
  readonly #parts: PairedRequestParts;
  readonly #plan: PairedRequestPlan;
  readonly #failedAt = new Set<string>();
  #give: (answer: FinalAnswer) => void = () => {};
  #deadline = Number.POSITIVE_INFINITY;
  #tries = 0;
  #timer: NodeJS.Timeout | undefined;
  #pause: NodeJS.Timeout | undefined;
  #over = false;

  private constructor(parts: PairedRequestParts, plan: PairedRequestPlan) {
    this.#parts = parts;
    this.#plan = plan;
    this.answer = new Promise((resolve) => {
      this.#give = resolve;
    });
  }

  /** Answers at once where nothing has to be waited for. */
  static begin(parts: PairedRequestParts, plan: PairedRequestPlan, decision: Decision, prefill: Decision): Answer {
    const request = new PairedRequest(parts, plan);
    try {
      return request.#try(decision, prefill) ?? request;
    } catch (error) {
      parts.ledger.end(plan.pickId, 'stream');
      throw error;
    }
  }

  cancel(): void {
    this.#finish(PASS);
    // Nobody will send the pick, also where it was made a moment ago.
    this.#parts.ledger.end(this.#plan.pickId, 'stream');
  }

  /** Null: it goes on. */
  #try(decision: Decision, prefill: Decision): FinalAnswer | null {
    const { ledger, dispatch, clock } = this.#parts;
    const { pickId, endpoint, order } = this.#plan;
    this.#tries += 1;
    const now = clock();
    const unit = new PrefillUnit(this.#parts, prefill, { pickId, endpoint, now });
    const { worker, loadKey, pinKey, model } = decision;
    // Its log entries begin when it goes out.
    ledger.open({
      pickId,
      worker,
      loadKey,
      pinKey,
      model,
      endpoint,
      now,
      periodicLogMs: NEVER_LOGGED,
      companion: unit,
    });

    const started = dispatch.start({ ...order, prefill: prefill.worker, decode: worker });
    if ('kind' in started) {
      // Who is told to send the prefill does so; else nobody does.
      if (started.kind === 'handoff' && started.leftTo === null) unit.end();
      return this.#settled(started, decision);
    }
    unit.follow(started);
    if (this.#tries === 1) this.#begun(started.timeoutMs);
    this.#await(started, decision, prefill);
    return null;
  }

  #begun(timeoutMs: number): void {
    this.timeoutMs = timeoutMs;
    this.#deadline = this.#parts.clock() + timeoutMs;
    // The prefill has a clock of its own, which tells more.
    this.#timer = setTimeout(() => this.#outOfTime(), timeoutMs + GRACE_MS);
  }

  #await(run: PrefillRun, decision: Decision, prefill: Decision): void {
    run.handoff.then((taken) => this.#taken(taken, decision, prefill)).catch((error: unknown) => this.#broke(error));
  }

  #taken(taken: Handoff | PrefillFailure, decision: Decision, prefill: Decision): void {
    if (this.#over) return;
    if (taken.kind === 'handoff' || !this.#triesAgain(taken, prefill)) {
      this.#finish(this.#settled(taken, decision));
      return;
    }
    const { counters, ledger, random, clock } = this.#parts;
    counters.prefillFailed(taken.status);
    ledger.end(this.#plan.pickId, 'stream');
    const pauseMs = retryDelayMs(this.#plan.retry, this.#tries, random);
    if (clock() + pauseMs >= this.#deadline) this.#finish(this.#lastWord(taken));
    else this.#pause = setTimeout(() => this.#retry(taken), pauseMs);
  }

  #triesAgain({ status }: PrefillFailure, prefill: Decision): boolean {
    if (!isRetried(status)) return false;
    this.#failedAt.add(prefill.worker.id);
    return this.#tries < this.#plan.retry.mostTries && !prefill.strict;
  }

  #retry(failure: PrefillFailure): void {
    try {
      const outcome = this.#chooseAgain();
      if (outcome.kind === 'refused' || outcome.prefill === null) {
        this.#finish(this.#lastWord(failure));
        return;
      }
      this.#parts.counters.prefillRetried(outcome, this.#plan.endpoint);
      const answer = this.#try(outcome, outcome.prefill);
      if (answer !== null) this.#finish(answer);
    } catch (error) {
      this.#broke(error);
    }
  }

  /** Another prefill worker; one that failed before when there is no other (decisions 31). */
  #chooseAgain(): Outcome {
    const outcome = this.#plan.again({ allows: ({ id }: Worker) => !this.#failedAt.has(id) });
    if (outcome.kind === 'placed') return outcome;
    this.#failedAt.clear();
    return this.#plan.again(null);
  }

  #settled(taken: Handoff | PrefillFailure, decision: Decision): FinalAnswer {
    const { ledger, clock, counters } = this.#parts;
    const { pickId, periodicLogMs, placed, keep } = this.#plan;
    if (taken.kind === 'failed') {
      counters.prefillFailed(taken.status);
      ledger.end(pickId, 'stream');
      return this.#lastWord(taken);
    }
    if (this.#tries > 1) keep(decision);
    ledger.dispatched(pickId, clock(), periodicLogMs);
    return placed(decision, taken);
  }

  #lastWord(failure: PrefillFailure): FinalAnswer {
    if (this.#tries > 1) this.#parts.counters.prefillGivenUp(this.#plan.endpoint);
    return this.#plan.refused(failure);
  }

  #outOfTime(): void {
    if (this.#over) return;
    const { ledger, counters } = this.#parts;
    // Between two tries there is nobody whose failure it is.
    if (ledger.end(this.#plan.pickId, 'stream') !== undefined) counters.prefillFailed(OUT_OF_TIME.status);
    this.#finish(this.#lastWord(OUT_OF_TIME));
  }

  /** A failure of ours: Envoy goes on without a pick. */
  #broke(error: unknown): void {
    this.#parts.onFailure(error);
    if (this.#over) return;
    this.#parts.counters.passed('internal_error');
    this.#parts.ledger.end(this.#plan.pickId, 'stream');
    this.#finish(PASS);
  }

  #finish(answer: FinalAnswer): void {
    if (this.#over) return;
    this.#over = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#pause);
    this.#give(answer);
  }
}

const OUT_OF_TIME: PrefillFailure = {
  kind: 'failed',
  status: 504,
  code: 'prefill_request_failed',
  message: 'The prefill worker did not answer in time',
};
