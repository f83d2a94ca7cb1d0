/** Counting of decisions. The series that every request moves are looked up once, here. */
import type { CacheBranch, Decision, Outcome, Trail } from '../routing/decision.ts';
import {
  CACHE_INDEX_BRANCHES,
  KEY_PLACES,
  PREFIX_BRANCHES,
  RING_BRANCHES,
  STICKY_BRANCHES,
  sourceOf,
  TREE_BRANCHES,
} from '../routing/decision.ts';
import type { EndpointLabel } from '../telemetry/endpoint-label.ts';
import type { Cell, HistogramCell } from '../telemetry/instruments.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { EditedMember, EditResult, OpaqueReason, PassReason, RefusalCode } from '../telemetry/own-metrics.ts';
import { NO_MODEL } from '../workers/snapshot.ts';

function cells<K extends string>(keys: readonly K[], find: (key: K) => Cell): Readonly<Record<K, Cell>> {
  return Object.fromEntries(keys.map((key) => [key, find(key)])) as Record<K, Cell>; // one entry per key of K
}

/** Series that a placed request moves, with the labels they stand for. */
interface PlacedSeries {
  readonly model: string;
  readonly policy: string;
  readonly type: string;
  readonly endpoint: EndpointLabel;
  readonly selections: Cell;
  readonly backend: BackendLabel;
  /** By `streaming`, made when first needed: a series that nothing moves would be exported. */
  readonly requests: Record<StreamingLabel, Cell | null>;
}

export type BackendLabel = 'regular' | 'pd';

type StreamingLabel = 'true' | 'false' | 'unknown';

function streamingLabel(streaming: boolean | null): StreamingLabel {
  return streaming === null ? 'unknown' : streaming ? 'true' : 'false';
}

export class PickCounters {
  readonly #metrics: Metrics;
  readonly #sticky: Readonly<Record<(typeof STICKY_BRANCHES)[number], Cell>>;
  readonly #ring: Readonly<Record<(typeof RING_BRANCHES)[number], Cell>>;
  readonly #prefix: Readonly<Record<(typeof PREFIX_BRANCHES)[number], Cell>>;
  readonly #trees: ReadonlyMap<string, Cell>;
  readonly #cacheIndex: ReadonlyMap<string, Cell>;
  readonly #matchRatio: HistogramCell;
  readonly #source: Readonly<Record<(typeof KEY_PLACES)[number], Cell>>;
  readonly #place: Readonly<Record<(typeof KEY_PLACES)[number], Cell>>;
  readonly #fromHeaders: HistogramCell;
  readonly #fromBody: HistogramCell;
  #last: PlacedSeries | null = null;
  /** The same of prefill legs. */
  #lastPrefill: PlacedSeries | null = null;

  constructor(metrics: Metrics) {
    this.#metrics = metrics;
    this.#sticky = cells(STICKY_BRANCHES, (branch) => metrics.manualBranches.cell(branch));
    this.#ring = cells(RING_BRANCHES, (branch) => metrics.consistentHashingBranches.cell(branch));
    this.#prefix = cells(PREFIX_BRANCHES, (branch) => metrics.prefixHashBranches.cell(branch));
    this.#trees = new Map(TREE_BRANCHES.map((branch) => [branch, metrics.cacheAwareBranches.cell(branch)]));
    this.#cacheIndex = new Map(CACHE_INDEX_BRANCHES.map((branch) => [branch, metrics.cacheIndexBranches.cell(branch)]));
    this.#matchRatio = metrics.cacheAwareMatchRatio.cell();
    this.#source = cells(KEY_PLACES, (place) => metrics.routingKeySources.cell(sourceOf(place)));
    this.#place = cells(KEY_PLACES, (place) => metrics.routingKeyPlaces.cell(place));
    this.#fromHeaders = metrics.decisionSeconds.cell('headers');
    this.#fromBody = metrics.decisionSeconds.cell('body');
  }

  opaqueBody(reason: OpaqueReason): void {
    this.#metrics.opaqueBodies.cell(reason).value += 1;
  }

  partialBody(): void {
    this.#metrics.partialBodies.cell().value += 1;
  }

  /** A member that the worker has to get was written into the body, or could not be. */
  bodyEdit(member: EditedMember, result: EditResult): void {
    this.#metrics.bodyEdits.cell(member, result).value += 1;
  }

  /**
   * One decision that holds, or one refusal by routing.
   *
   * @param streaming whether a streamed answer is asked for; null when that is not known
   */
  outcome(outcome: Outcome, endpoint: EndpointLabel, streaming: boolean | null): void {
    if (outcome.kind === 'placed') {
      const series = this.#selected(outcome, endpoint);
      this.#requestsOf(series, streamingLabel(streaming)).value += 1;
      return;
    }
    this.#decided(outcome.trail);
    const metrics = this.#metrics;
    const shed = outcome.reason === 'worker_overload_protection_shed';
    if (shed) metrics.overloadSheds.cell('selection').value += 1;
    // The name of a model that nobody serves is the client's text, which may not become a series.
    const model = outcome.reason === 'model_not_found' ? 'other' : outcome.model;
    const backend = outcome.leg === 'single' ? 'regular' : 'pd';
    const label = streamingLabel(streaming);
    metrics.routerRequests.cell('http', backend, 'http', model, endpoint, label).value += 1;
    // As the real SMG, which takes a shed for the answer of a worker.
    const error = shed ? 'backend_error' : 'no_workers';
    metrics.routerRequestErrors.cell('http', backend, 'http', model, endpoint, error).value += 1;
  }

  /** A prefill failed; `status` is what its client would be told. */
  prefillFailed(status: number): void {
    if (status >= 500) this.#metrics.workerErrors.cell('prefill', 'http', errorLabel(status)).value += 1;
  }

  /** Another pair was chosen for a request whose prefill failed. */
  prefillRetried(decision: Decision, endpoint: EndpointLabel): void {
    this.#selected(decision, endpoint);
    for (const leg of ['prefill', 'decode'] as const) this.#metrics.workerRetries.cell(leg, endpoint).value += 1;
  }

  /** The last of several tries failed. */
  prefillGivenUp(endpoint: EndpointLabel): void {
    for (const leg of ['prefill', 'decode'] as const) {
      this.#metrics.workerRetriesExhausted.cell(leg, endpoint).value += 1;
    }
  }

  /** The client is told that its prefill failed. */
  prefillRefused(status: number, model: string, endpoint: EndpointLabel): void {
    const error = status < 500 ? 'validation_error' : errorLabel(status);
    this.#metrics.routerRequestErrors.cell('http', 'pd', 'http', model, endpoint, error).value += 1;
  }

  #selected(decision: Decision, endpoint: EndpointLabel): PlacedSeries {
    const { prefill } = decision;
    if (prefill !== null) {
      this.#decided(prefill.trail);
      this.#lastPrefill = this.#seriesOf(prefill, endpoint, this.#lastPrefill);
      this.#lastPrefill.selections.value += 1;
    }
    this.#decided(decision.trail);
    this.#last = this.#seriesOf(decision, endpoint, this.#last);
    this.#last.selections.value += 1;
    return this.#last;
  }

  #decided(trail: Trail): void {
    if (trail.stickyBranch !== null) this.#sticky[trail.stickyBranch].value += 1;
    if (trail.ringBranch !== null) this.#ring[trail.ringBranch].value += 1;
    if (trail.prefixBranch !== null) this.#prefix[trail.prefixBranch].value += 1;
    if (trail.cacheBranch !== null) this.#cacheDecision(trail.cacheBranch, trail.matchRatio);
    if (trail.keySource !== null) {
      this.#source[trail.keySource].value += 1;
      this.#place[trail.keySource].value += 1;
    }
    if (trail.pastVeto) this.#metrics.overloadFallbacks.cell('selection').value += 1;
  }

  /** Only what a tree decided has a ratio, and only that is counted by SMG (policies 8.3). */
  #cacheDecision(branch: CacheBranch, ratio: number): void {
    const cell = (ratio < 0 ? this.#cacheIndex : this.#trees).get(branch);
    if (cell !== undefined) cell.value += 1;
    if (ratio >= 0) this.#matchRatio.observe(ratio);
  }

  /** Most requests move the series of the one before. */
  #seriesOf(decision: Decision, endpoint: EndpointLabel, last: PlacedSeries | null): PlacedSeries {
    const { model, policy, worker } = decision;
    const { type } = worker;
    if (
      last !== null &&
      last.model === model &&
      last.policy === policy &&
      last.type === type &&
      last.endpoint === endpoint
    ) {
      return last;
    }
    return {
      model,
      policy,
      type,
      endpoint,
      backend: type === 'regular' ? 'regular' : 'pd',
      selections: this.#metrics.workerSelections.cell(type, 'http', model, policy),
      requests: { true: null, false: null, unknown: null },
    };
  }

  #requestsOf({ requests, model, endpoint, backend }: PlacedSeries, streaming: StreamingLabel): Cell {
    const known = requests[streaming];
    if (known !== null) return known;
    const cell = this.#metrics.routerRequests.cell('http', backend, 'http', model, endpoint, streaming);
    requests[streaming] = cell;
    return cell;
  }

  /** A request that cannot be read. */
  invalid(backend: BackendLabel, endpoint: EndpointLabel): void {
    const { routerRequestErrors } = this.#metrics;
    routerRequestErrors.cell('http', backend, 'http', NO_MODEL, endpoint, 'validation_error').value += 1;
  }

  refused(code: RefusalCode): void {
    this.#metrics.refusals.cell(code).value += 1;
  }

  passed(reason: PassReason): void {
    this.#metrics.passes.cell(reason).value += 1;
  }

  took(seconds: number, body: boolean): void {
    (body ? this.#fromBody : this.#fromHeaders).observe(seconds);
  }
}

/** Of a failure with a status of 500 and more. */
function errorLabel(status: number): 'timeout' | 'backend_error' {
  return status === 504 ? 'timeout' : 'backend_error';
}
