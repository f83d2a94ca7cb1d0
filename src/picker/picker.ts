/**
 * One request from its head (and its body, where the decision needs it) to the answer for Envoy: read, decide, commit the
 * pin, take the in-flight count. Every protocol adapter asks this one.
 */
import { endpointOf, requestIdPrefix } from '../request/endpoint.ts';
import type { RequestHead } from '../request/request-head.ts';
import { requestIdHeader, requestIdIn } from '../request/request-id.ts';
import type { Decision, Outcome, Refusal } from '../routing/decision.ts';
import { bothAllow } from '../routing/eligibility.ts';
import type { Rehearsal } from '../routing/rehearsal.ts';
import type { Router } from '../routing/router.ts';
import { endpointLabel } from '../telemetry/endpoint-label.ts';
import type { PassReason } from '../telemetry/own-metrics.ts';
import type { Worker } from '../workers/worker.ts';
import type { Answer, BodyBytes, BodyPlan, PassAnswer, PickAnswer, RefusalAnswer, StreamFacts } from './answer.ts';
import { logDecision } from './decision-log.ts';
import { decisionText } from './decision-text.ts';
import { Decisions } from './decisions.ts';
import { destinationOf } from './destination.ts';
import { PairedRequest, type PairedRequestPlan } from './paired-request.ts';
import type { PickerConfig, PickerParts } from './picker-parts.ts';
import type { Handoff } from './prefill-dispatch.ts';
import { planOf, type ReadRequest, readRequest, Unreadable } from './read-request.ts';
import { refusalOf, refusalOfBody } from './refusals.ts';
import { type Rehearsed, RehearsedNotes } from './rehearsed.ts';
import { bodyFor } from './worker-body.ts';

const REQUEST_ID = 'x-request-id';
const PASS: PassAnswer = { kind: 'pass' };

export class Picker {
  readonly #parts: PickerParts;
  readonly #decisions: Decisions;
  #config: PickerConfig;

  constructor(parts: PickerParts, config: PickerConfig) {
    this.#parts = parts;
    this.#decisions = new Decisions(parts);
    this.#config = config;
  }

  /** The router in force. */
  get router(): Router {
    return this.#config.router;
  }

  /** Applies to the next request. */
  reconfigure(config: PickerConfig): void {
    this.#config = config;
  }

  /** Whether the body of a request must be read to place it (sticky-sessions 4 in the form of 11.2). Changes nothing. */
  plan(head: RequestHead): BodyPlan {
    return planOf(head, this.#parts.fleet.current, this.#config);
  }

  /**
   * Places a request. Answers at once, unless a shared pin store has to be asked about a new key. Never throws and never
   * rejects: a failure of ours is `pass`.
   *
   * @param body what was read of the body, null when it was not read
   */
  pick(head: RequestHead, body: BodyBytes | null, facts: StreamFacts): Answer | Promise<Answer> {
    const startedAt = this.#parts.clock();
    try {
      const answer = this.#read(head, body, facts, startedAt);
      if (!(answer instanceof Promise)) {
        this.#parts.counters.took((this.#parts.clock() - startedAt) / 1000, body !== null);
        return answer;
      }
      return answer.then(
        (late) => {
          this.#parts.counters.took((this.#parts.clock() - startedAt) / 1000, body !== null);
          return late;
        },
        (error: unknown) => this.#failed(error),
      );
    } catch (error) {
      return this.#failed(error);
    }
  }

  /**
   * What `pick` is going to answer to such a request, while nothing changes: no pin, count, metric or memory of a policy. A
   * shared pin store is not asked, and no prefill is sent.
   *
   * @param body all of it; read only where `plan` says so
   */
  rehearse(head: RequestHead, body: Buffer | null, facts: StreamFacts, rehearsal: Rehearsal): Rehearsed {
    const { clock, fleet } = this.#parts;
    const config = this.#config;
    const startedAt = clock();
    const plan = this.plan(head);
    const notes = new RehearsedNotes();
    const whole = plan.readBody && body !== null ? { bytes: body, complete: true } : null;
    const request = readRequest(head, whole, fleet.current, config, notes);
    const readAt = clock();
    const timing = (): Rehearsed['timing'] => ({ readMs: readAt - startedAt, decideMs: clock() - readAt });
    if (request instanceof Unreadable) {
      const refusal = refusalOfBody(request.error, config.maxPayloadBytes, '');
      return { plan, opaque: notes.opaque, request: null, outcome: null, refusal, pass: null, timing: timing() };
    }
    const outcome = this.#decisions.rehearse(request, config, facts.subset, readAt, rehearsal);
    const refused = outcome.kind === 'refused' ? outcome : null;
    const pass = refused !== null && facts.subset === null && this.#isPremature(refused) ? 'not_settled' : null;
    const refusal = refused === null || pass !== null ? null : this.#refusal(refused, facts, '');
    return { plan, opaque: notes.opaque, request, outcome, refusal, pass, timing: timing() };
  }

  /** An id for a pick that is still to come: Envoy may be told it before, and gives it back with `StreamFacts`. */
  reservePickId(): string {
    return this.#parts.pickIds.make();
  }

  /** The answer never reached Envoy: nothing was dispatched. */
  abandon(pickId: string): void {
    this.#parts.ledger.end(pickId, 'stream');
  }

  #read(head: RequestHead, body: BodyBytes | null, facts: StreamFacts, now: number): Answer | Promise<Answer> {
    const config = this.#config;
    const requestIdToSet = this.#requestIdToSet(head);
    const request = readRequest(head, body, this.#parts.fleet.current, config, this.#parts.counters);
    if (request instanceof Unreadable) {
      const requestId = requestIdOf(head, requestIdToSet);
      return this.#refuseInvalid(head, refusalOfBody(request.error, config.maxPayloadBytes, requestId));
    }
    return this.#place(request, facts, requestIdToSet, now);
  }

  /** The id to write into the request, null when it stands in `x-request-id` already (sticky-sessions 1.7). */
  #requestIdToSet(head: RequestHead): string | null {
    const header = requestIdHeader(head, this.#config.requestIdHeaders);
    if (header === null) return this.#parts.requestIds.make(requestIdPrefix(head.path));
    return header === REQUEST_ID ? null : requestIdIn(head, header);
  }

  #place(
    request: ReadRequest,
    facts: StreamFacts,
    requestIdToSet: string | null,
    now: number,
  ): Answer | Promise<Answer> {
    const outcome = this.#decisions.settle(request, this.#config, facts.subset, now);
    return outcome instanceof Promise
      ? outcome.then((late) => this.#answer(late, request, facts, requestIdToSet, now))
      : this.#answer(outcome, request, facts, requestIdToSet, now);
  }

  #answer(
    outcome: Outcome,
    request: ReadRequest,
    facts: StreamFacts,
    requestIdToSet: string | null,
    now: number,
  ): Answer {
    if (outcome.kind === 'placed') return this.#placed(outcome, request, facts, requestIdToSet, now);
    if (facts.subset === null && this.#isPremature(outcome)) return this.#pass('not_settled');
    this.#parts.counters.outcome(outcome, endpointLabel(request.head.path), request.streaming);
    this.#parts.counters.refused(outcome.reason);
    this.#parts.watch.decided('', outcome, request.bodyKeys !== null, now);
    return this.#refusal(outcome, facts, requestIdOf(request.head, requestIdToSet));
  }

  #refusal(refusal: Refusal, { endpointPicker }: StreamFacts, requestId: string): RefusalAnswer {
    const style = this.#config.errorStyle ?? (endpointPicker ? 'epp' : 'smg');
    return refusalOf(refusal, style, requestId, this.#config.shedRetryAfterSecs);
  }

  /**
   * Just after a start, that nobody can serve is no fact: Envoy may know workers from before and finds one that answers.
   * A strict target stays one: nobody else may serve it. So does a subset, which Envoy's own choice would leave.
   */
  #isPremature({ reason, strict }: Refusal): boolean {
    const { fleet } = this.#parts;
    if (fleet.judged || strict) return false;
    return reason === 'no_available_workers' || fleet.current.workers.length === 0;
  }

  #placed(
    decision: Decision,
    request: ReadRequest,
    facts: StreamFacts,
    requestIdToSet: string | null,
    now: number,
  ): Answer {
    const pickId = facts.pickId ?? this.#parts.pickIds.make();
    const endpoint = endpointLabel(request.head.path);
    this.#parts.counters.outcome(decision, endpoint, request.streaming);
    logDecision(this.#parts.log, pickId, decision);
    this.#parts.watch.decided(pickId, decision, request.bodyKeys !== null, now);
    if (decision.prefill !== null)
      return this.#pair(decision, decision.prefill, request, facts, requestIdToSet, pickId);
    const body = this.#bodyFor(decision.worker, request, facts);
    this.#parts.ledger.open({
      pickId,
      worker: decision.worker,
      loadKey: decision.loadKey,
      pinKey: decision.pinKey,
      model: decision.model,
      endpoint,
      now,
      periodicLogMs: facts.periodicLogMs,
      companion: null,
    });
    return this.#picked(decision, body, null, facts, requestIdToSet, pickId);
  }

  #picked(
    decision: Decision,
    body: Buffer | null,
    handoff: Handoff | null,
    facts: StreamFacts,
    requestIdToSet: string | null,
    pickId: string,
  ): PickAnswer {
    // Where the rank cannot be written, the engine chooses one itself.
    const rank = body === null ? null : decision.worker.rank;
    const prefill = decision.prefill === null ? null : decision.prefill.worker.address;
    return {
      kind: 'pick',
      pickId,
      destination: destinationOf(decision),
      strict: decision.strict,
      maxRetries: this.#maxRetries(decision, rank, facts),
      rank,
      requestId: requestIdToSet,
      decisionHeader: this.#config.decisionHeader ? decisionText(decision) : null,
      body,
      prefillHeader: handoff?.leftTo === 'sidecar' ? prefill : null,
      // Twice: it may be tried once more, on another connection.
      prefillMirror: handoff?.leftTo === 'envoy' ? `${prefill},${prefill}` : null,
    };
  }

  /** The request goes to two workers (decisions 27). */
  #pair(
    decision: Decision,
    prefill: Decision,
    request: ReadRequest,
    facts: StreamFacts,
    requestIdToSet: string | null,
    pickId: string,
  ): Answer {
    const { head, whole, canonicalModel } = request;
    const requestId = requestIdOf(head, requestIdToSet);
    const endpoint = endpointLabel(head.path);
    const { counters, watch, clock } = this.#parts;
    const plan: PairedRequestPlan = {
      pickId,
      endpoint,
      periodicLogMs: facts.periodicLogMs,
      order: {
        head,
        endpoint: endpointOf(head.path).kind,
        body: whole,
        mostBodyBytes: this.#mostBodyBytes(facts),
        model: canonicalModel,
        modelLabel: decision.model,
        requestId,
      },
      retry: this.#config.prefillRetry,
      again: (eligible) => this.#decisions.propose(request, this.#config, bothAllow(facts.subset, eligible), clock()),
      keep: (kept) => this.#decisions.keep(kept, clock()),
      placed: (placed, handoff) => {
        this.#countEdits(placed.worker, handoff.body, request, facts);
        return this.#picked(placed, handoff.body, handoff, facts, requestIdToSet, pickId);
      },
      refused: ({ status, code, message }) => {
        counters.prefillRefused(status, decision.model, endpoint);
        counters.refused(code);
        watch.undecided(code, true, clock());
        return { kind: 'refusal', status, code, message, retryAfterSecs: null, requestId };
      },
    };
    return PairedRequest.begin(this.#parts, plan, decision, prefill);
  }

  /** Null where the client's own body goes on. */
  #bodyFor(worker: Worker, request: ReadRequest, facts: StreamFacts): Buffer | null {
    const body = facts.editsBody ? bodyFor(request, worker.rank, this.#mostBodyBytes(facts)) : null;
    this.#countEdits(worker, body, request, facts);
    return body;
  }

  /** Longest body that can be handed on. In full duplex the service holds bodies itself, up to its own limit. */
  #mostBodyBytes({ editsBody, endpointPicker }: StreamFacts): number {
    if (!editsBody) return 0;
    return endpointPicker ? Number.POSITIVE_INFINITY : this.#config.bodyEditLimitBytes;
  }

  #countEdits({ rank }: Worker, body: Buffer | null, request: ReadRequest, { editsBody }: StreamFacts): void {
    const result = body !== null ? 'done' : editsBody ? 'not_whole' : 'read_only';
    if (request.canonicalModel !== null) this.#parts.counters.bodyEdit('model', result);
    if (rank !== null) this.#parts.counters.bodyEdit('data_parallel_rank', result);
  }

  /**
   * What Envoy draws after the list may stand outside the subset, be an engine that lacks the rank in the body, or not fit the
   * prefill worker.
   */
  #maxRetries({ strict, closed, fallbacks }: Decision, rank: number | null, { subset }: StreamFacts): number | null {
    if (strict) return 0;
    const anybody = !closed && (rank === null || this.#parts.fleet.current.hasEverywhere(rank));
    if (anybody && subset === null) return null;
    return Math.min(fallbacks.length, this.#config.routeRetries);
  }

  #refuseInvalid<A extends Answer & { kind: 'refusal' }>(head: RequestHead, answer: A): A {
    const backend = this.#parts.fleet.current.disaggregated ? 'pd' : 'regular';
    this.#parts.counters.invalid(backend, endpointLabel(head.path));
    this.#parts.counters.refused(answer.code);
    this.#parts.watch.undecided(answer.code, answer.code === 'json_parse_error', this.#parts.clock());
    return answer;
  }

  #failed(error: unknown): PassAnswer {
    this.#parts.onFailure(error);
    return this.#pass('internal_error');
  }

  #pass(reason: PassReason): PassAnswer {
    this.#parts.counters.passed(reason);
    this.#parts.watch.undecided(reason, false, this.#parts.clock());
    return PASS;
  }
}

/** @param toSet of `#requestIdToSet` */
function requestIdOf(head: RequestHead, toSet: string | null): string {
  return toSet ?? requestIdIn(head, REQUEST_ID);
}
