/**
 * One request from its head (and its body, where the decision needs it) to the answer for Envoy: read, decide, commit the
 * pin, take the in-flight count. Every protocol adapter asks this one.
 */
import type { PinStore } from '../pins/pin-store.ts';
import { readBody } from '../request/body-fields.ts';
import { ScannedKeys } from '../request/body-keys.ts';
import type { BodyKind } from '../request/body-kind.ts';
import { bodyKindOf, isIdentity } from '../request/body-kind.ts';
import { promptOf } from '../request/body-prompt.ts';
import type { Endpoint } from '../request/endpoint.ts';
import { endpointOf, requestIdPrefix } from '../request/endpoint.ts';
import type { JsonScan, MemberNames } from '../request/json-scanner.ts';
import type { RequestHead } from '../request/request-head.ts';
import type { RequestIds } from '../request/request-id.ts';
import { requestIdHeader, requestIdIn } from '../request/request-id.ts';
import type { RoutingRequest } from '../request/routing-request.ts';
import { readTargetWorker } from '../request/target-worker.ts';
import type { Decision, Outcome, Refusal } from '../routing/decision.ts';
import type { Router } from '../routing/router.ts';
import { endpointLabel } from '../telemetry/endpoint-label.ts';
import type { Log } from '../telemetry/log.ts';
import type { PassReason } from '../telemetry/own-metrics.ts';
import type { Random } from '../util/random.ts';
import type { InFlightLedger } from '../workers/in-flight-ledger.ts';
import type { JudgedSource } from '../workers/snapshot-source.ts';
import type { Worker } from '../workers/worker.ts';
import type { Answer, BodyBytes, BodyPlan, PassAnswer, StreamFacts } from './answer.ts';
import { contentLength } from './content-length.ts';
import { logDecision } from './decision-log.ts';
import { destinationOf } from './destination.ts';
import { placeSelection, selectionOf } from './endpoint-selection.ts';
import { fleetFor } from './fleet-for.ts';
import type { PickCounters } from './pick-counters.ts';
import type { PickIds } from './pick-ids.ts';
import type { ErrorStyle } from './refusals.ts';
import { badBody, refusalOf, tooLarge } from './refusals.ts';
import { bodyFor, type ReadableBody } from './worker-body.ts';

/** What a reload may change. Replaced whole. */
export interface PickerConfig {
  readonly router: Router;
  /** What bodies are scanned for. */
  readonly bodyMembers: MemberNames;
  readonly maxPayloadBytes: number;
  /**
   * Bytes that Envoy keeps of a body in its buffered modes (`--envoy-body-limit`). A larger one may be seen whole, but an
   * answer that replaces it is never sent on: the request hangs.
   */
  readonly bodyEditLimitBytes: number;
  /** Lower-case names, in order. */
  readonly requestIdHeaders: readonly string[];
  /** Null: by stream (decisions 13). */
  readonly errorStyle: ErrorStyle | null;
  readonly decisionHeader: boolean;
  /** Requests may name their endpoints by the header of the gateways' conformance tests (decisions 43). */
  readonly testEndpointSelection: boolean;
  /** `retry-after` of a request that is shed: the time to the next load reports, in whole seconds (sticky-sessions 7.2). */
  readonly shedRetryAfterSecs: number;
  /** Further names of models, each with the model it stands for (policies 2.4). */
  readonly modelAliases: ReadonlyMap<string, string>;
  /** Attempts after the first that Envoy's route makes at most. */
  readonly routeRetries: number;
}

export interface PickerParts {
  readonly fleet: JudgedSource;
  readonly pins: PinStore;
  readonly ledger: InFlightLedger;
  readonly counters: PickCounters;
  readonly log: Log;
  readonly pickIds: PickIds;
  readonly requestIds: RequestIds;
  readonly random: Random;
  /** Milliseconds, monotonic. */
  readonly clock: () => number;
  /** False for an address that a connected Envoy has not accepted yet: a strict target there would be served by nobody. */
  readonly envoyKnows: (address: string) => boolean;
  /** Told of a failure inside a decision; the request goes on without a pick. */
  readonly onFailure: (error: unknown) => void;
}

/** What was read of a request. Routing sees no more of it than it needs. */
interface ReadRequest extends RoutingRequest, ReadableBody {
  /** Whether it asks for a streamed answer; null where its body does not say. */
  readonly streaming: boolean | null;
}

/** A decision is made anew when another writer's pin came first; a store that never agrees must not loop. */
const MAX_COMMITS = 3;

const REQUEST_ID = 'x-request-id';
const PASS: PassAnswer = { kind: 'pass' };
const NO_BODY: BodyPlan = { readBody: false, reason: 'no_body' };
const NOT_JSON: BodyPlan = { readBody: false, reason: 'not_json' };
const HEADERS_SUFFICE: BodyPlan = { readBody: false, reason: 'header_only' };
const TAKES_RANK: BodyPlan = { readBody: true, reason: 'worker_mutates_body' };
const MAY_NAME_ALIAS: BodyPlan = { readBody: true, reason: 'model_alias' };

export class Picker {
  readonly #parts: PickerParts;
  #config: PickerConfig;

  constructor(parts: PickerParts, config: PickerConfig) {
    this.#parts = parts;
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
    const kind = bodyKindOf(head);
    if (kind === 'none' || kind === 'tunnel') return NO_BODY;
    if (this.#selectionOf(head) !== null) return HEADERS_SUFFICE;
    const endpoint = endpointOf(head.path);
    if (kind === 'opaque' || !endpoint.isJson) return NOT_JSON;
    if (contentLength(head) > this.#config.maxPayloadBytes) return HEADERS_SUFFICE;
    const fleet = this.#parts.fleet.current;
    const need = this.#config.router.bodyNeed(head, fleet, endpoint);
    if (need !== null) return { readBody: true, reason: need };
    if (fleet.ranked) return TAKES_RANK;
    return this.#config.modelAliases.size > 0 && endpoint.hasModel ? MAY_NAME_ALIAS : HEADERS_SUFFICE;
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

  /** The answer never reached Envoy: nothing was dispatched. */
  abandon(pickId: string): void {
    this.#parts.ledger.end(pickId, 'stream');
  }

  #read(head: RequestHead, body: BodyBytes | null, facts: StreamFacts, now: number): Answer | Promise<Answer> {
    const config = this.#config;
    const endpoint = endpointOf(head.path);
    const requestIdToSet = this.#requestIdToSet(head);

    const seen = body?.complete ? body.bytes.length : contentLength(head);
    if (seen > config.maxPayloadBytes) {
      return this.#refuseInvalid(head, tooLarge(config.maxPayloadBytes, requestIdOf(head, requestIdToSet)));
    }

    let rid: string | null = null;
    let members: JsonScan | null = null;
    let streaming: boolean | null = null;
    let canonicalModel: string | null = null;
    // Until the body says more: the model that nobody needs to name.
    let model = fleetFor(head, this.#parts.fleet.current).soleModel;
    if (body !== null && this.#isReadable(head, body, endpoint)) {
      const fields = readBody(body.bytes, body.complete, endpoint, config.bodyMembers);
      if (fields.kind === 'error') {
        return this.#refuseInvalid(head, badBody(fields, requestIdOf(head, requestIdToSet)));
      }
      ({ rid, members, streaming } = fields);
      canonicalModel = config.modelAliases.get(fields.model) ?? null;
      if (body.complete || fields.model !== '') model = canonicalModel ?? fields.model;
    }
    const whole = body?.complete ? members : null;
    const bodyKeys = members === null ? null : new ScannedKeys(endpoint.kind, members, rid);
    const prompt = promptOf(head, endpoint.kind, members);
    const request = { head, model, bodyKeys, prompt, streaming, whole, canonicalModel };
    return this.#place(request, facts, requestIdToSet, now, 1);
  }

  /** The id to write into the request, null when it stands in `x-request-id` already (sticky-sessions 1.7). */
  #requestIdToSet(head: RequestHead): string | null {
    const header = requestIdHeader(head, this.#config.requestIdHeaders);
    if (header === null) return this.#parts.requestIds.make(requestIdPrefix(head.path));
    return header === REQUEST_ID ? null : requestIdIn(head, header);
  }

  /** Counts a body whose bytes cannot tell anything (decisions 35) and one that was cut. */
  #isReadable(head: RequestHead, body: BodyBytes, endpoint: Endpoint): boolean {
    if (!body.complete) this.#parts.counters.partialBody();
    if (body.bytes.length === 0) {
      this.#parts.counters.opaqueBody('empty');
      return false;
    }
    const kind: BodyKind = bodyKindOf(head);
    if (kind === 'json' && endpoint.isJson) return true;
    this.#parts.counters.opaqueBody(isIdentity(head) ? 'not_json' : 'encoded');
    return false;
  }

  #place(
    request: ReadRequest,
    facts: StreamFacts,
    requestIdToSet: string | null,
    now: number,
    commits: number,
  ): Answer | Promise<Answer> {
    const { fleet, pins } = this.#parts;
    const outcome = this.#strictlyKnown(this.#decide(request, facts, now));
    if (outcome.kind === 'refused') {
      if (facts.subset === null && this.#isPremature(outcome, request.head)) return this.#pass('not_settled');
      this.#parts.counters.outcome(outcome, endpointLabel(request.head.path), request.streaming);
      this.#parts.counters.refused(outcome.reason);
      const style = this.#config.errorStyle ?? (facts.endpointPicker ? 'epp' : 'smg');
      return refusalOf(outcome, style, requestIdOf(request.head, requestIdToSet), this.#config.shedRetryAfterSecs);
    }
    const write = outcome.write;
    if (write === null) return this.#placed(outcome, request, facts, requestIdToSet, now);
    const held = pins.put(write.key, write.candidates, write.expectedVersion, now);
    if (!(held instanceof Promise)) {
      if (commits === MAX_COMMITS || sameCandidates(held.candidates, write.candidates)) {
        return this.#placed(outcome, request, facts, requestIdToSet, now);
      }
      return this.#place(request, facts, requestIdToSet, now, commits + 1);
    }
    return held.then((pin) => {
      // The fleet may have changed while the store was asked (field-lessons R25).
      const holds =
        sameCandidates(pin.candidates, write.candidates) && fleet.current.byId(outcome.worker.id)?.keepsPins === true;
      return commits === MAX_COMMITS || holds
        ? this.#placed(outcome, request, facts, requestIdToSet, now)
        : this.#place(request, facts, requestIdToSet, now, commits + 1);
    });
  }

  #decide(request: ReadRequest, { subset }: StreamFacts, now: number): Outcome {
    const { random } = this.#parts;
    const { router } = this.#config;
    const fleet = fleetFor(request.head, this.#parts.fleet.current);
    const selection = this.#selectionOf(request.head);
    if (selection === null) return router.decide(request, fleet, now, random, subset);
    return placeSelection(selection, fleet, router.policies.standard.name, request.model);
  }

  #selectionOf(head: RequestHead): readonly string[] | null {
    return this.#config.testEndpointSelection ? selectionOf(head) : null;
  }

  /**
   * Just after a start, that nobody can serve is no fact: Envoy may know workers from before and finds one that answers.
   * A strict target stays one: nobody else may serve it. So does a subset, which Envoy's own choice would leave.
   */
  #isPremature({ reason, policy }: Refusal, head: RequestHead): boolean {
    const { fleet } = this.#parts;
    if (fleet.judged || (policy === 'consistent_hashing' && readTargetWorker(head) !== null)) return false;
    return reason === 'no_available_workers' || fleet.current.workers.length === 0;
  }

  /** A strict target that Envoy does not know would be served by nobody (decisions 25): refused as a miss. */
  #strictlyKnown(outcome: Outcome): Outcome {
    if (outcome.kind !== 'placed' || !outcome.strict || this.#parts.envoyKnows(outcome.worker.address)) return outcome;
    outcome.trail.ringBranch = 'target_worker_miss';
    const { policy, model, trail } = outcome;
    return { kind: 'refused', reason: 'no_available_workers', leg: 'single', detail: null, policy, model, trail };
  }

  #placed(
    decision: Decision,
    request: ReadRequest,
    facts: StreamFacts,
    requestIdToSet: string | null,
    now: number,
  ): Answer {
    const pickId = this.#parts.pickIds.make();
    const endpoint = endpointLabel(request.head.path);
    this.#parts.ledger.open({
      pickId,
      worker: decision.worker,
      loadKey: decision.loadKey,
      pinKey: decision.pinKey,
      model: decision.model,
      endpoint,
      now,
      periodicLogMs: facts.periodicLogMs,
    });
    this.#parts.counters.outcome(decision, endpoint, request.streaming);
    logDecision(this.#parts.log, pickId, decision);
    const body = this.#bodyFor(decision.worker, request, facts);
    // Where the rank cannot be written, the engine chooses one itself.
    const rank = body === null ? null : decision.worker.rank;
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
    };
  }

  /** Null where the client's own body goes on. In full duplex the service holds bodies itself, up to its own limit. */
  #bodyFor({ rank }: Worker, request: ReadRequest, facts: StreamFacts): Buffer | null {
    const mostBytes = facts.endpointPicker ? Number.POSITIVE_INFINITY : this.#config.bodyEditLimitBytes;
    const body = facts.editsBody ? bodyFor(request, rank, mostBytes) : null;
    const result = body !== null ? 'done' : facts.editsBody ? 'not_whole' : 'read_only';
    if (request.canonicalModel !== null) this.#parts.counters.bodyEdit('model', result);
    if (rank !== null) this.#parts.counters.bodyEdit('data_parallel_rank', result);
    return body;
  }

  /** What Envoy draws after the list may stand outside the subset, or be an engine that lacks the rank in the body. */
  #maxRetries({ strict, fallbacks }: Decision, rank: number | null, { subset }: StreamFacts): number | null {
    if (strict) return 0;
    const anybody = rank === null || this.#parts.fleet.current.hasEverywhere(rank);
    if (anybody && subset === null) return null;
    return Math.min(fallbacks.length, this.#config.routeRetries);
  }

  #refuseInvalid<A extends Answer & { kind: 'refusal' }>(head: RequestHead, answer: A): A {
    this.#parts.counters.invalid(endpointLabel(head.path));
    this.#parts.counters.refused(answer.code);
    return answer;
  }

  #failed(error: unknown): PassAnswer {
    this.#parts.onFailure(error);
    return this.#pass('internal_error');
  }

  #pass(reason: PassReason): PassAnswer {
    this.#parts.counters.passed(reason);
    return PASS;
  }
}

/** @param toSet of `#requestIdToSet` */
function requestIdOf(head: RequestHead, toSet: string | null): string {
  return toSet ?? requestIdIn(head, REQUEST_ID);
}

function sameCandidates(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a[0] === b[0] && a[1] === b[1];
}

function decisionText({ trail, policy }: Decision): string {
  const branch = trail.stickyBranch ?? trail.ringBranch ?? 'policy';
  return `branch=${branch}; source=${trail.keySource ?? 'none'}; policy=${policy}`;
}
