/** Counting of decisions. The series that every request moves are looked up once, here. */
import type { Outcome } from '../routing/decision.ts';
import { KEY_SOURCES, RING_BRANCHES, STICKY_BRANCHES } from '../routing/decision.ts';
import type { EndpointLabel } from '../telemetry/endpoint-label.ts';
import type { Cell, HistogramCell } from '../telemetry/instruments.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { OpaqueReason, PassReason, RefusalCode } from '../telemetry/own-metrics.ts';

function cells<K extends string>(keys: readonly K[], find: (key: K) => Cell): Readonly<Record<K, Cell>> {
  return Object.fromEntries(keys.map((key) => [key, find(key)])) as Record<K, Cell>; // one entry per key of K
}

export class PickCounters {
  readonly #metrics: Metrics;
  readonly #sticky: Readonly<Record<(typeof STICKY_BRANCHES)[number], Cell>>;
  readonly #ring: Readonly<Record<(typeof RING_BRANCHES)[number], Cell>>;
  readonly #source: Readonly<Record<(typeof KEY_SOURCES)[number], Cell>>;
  readonly #fromHeaders: HistogramCell;
  readonly #fromBody: HistogramCell;

  constructor(metrics: Metrics) {
    this.#metrics = metrics;
    this.#sticky = cells(STICKY_BRANCHES, (branch) => metrics.manualBranches.cell(branch));
    this.#ring = cells(RING_BRANCHES, (branch) => metrics.consistentHashingBranches.cell(branch));
    this.#source = cells(KEY_SOURCES, (source) => metrics.routingKeySources.cell(source));
    this.#fromHeaders = metrics.decisionSeconds.cell('headers');
    this.#fromBody = metrics.decisionSeconds.cell('body');
  }

  opaqueBody(reason: OpaqueReason): void {
    this.#metrics.opaqueBodies.cell(reason).value += 1;
  }

  partialBody(): void {
    this.#metrics.partialBodies.cell().value += 1;
  }

  /** One decision that holds, or one refusal by routing. */
  outcome(outcome: Outcome, endpoint: EndpointLabel): void {
    const trail = outcome.trail;
    if (trail.stickyBranch !== null) this.#sticky[trail.stickyBranch].value += 1;
    if (trail.ringBranch !== null) this.#ring[trail.ringBranch].value += 1;
    if (trail.keySource !== null) this.#source[trail.keySource].value += 1;
    const metrics = this.#metrics;
    if (outcome.kind === 'placed') {
      metrics.workerSelections.cell(outcome.worker.type, 'http', outcome.model, outcome.policy).value += 1;
      metrics.routerRequests.cell('http', 'regular', 'http', outcome.model, endpoint, 'unknown').value += 1;
    } else {
      // The name of a model that nobody serves is the client's text, which may not become a series.
      const model = outcome.reason === 'model_not_found' ? 'other' : outcome.model;
      metrics.routerRequestErrors.cell('http', 'regular', 'http', model, endpoint, 'no_workers').value += 1;
    }
  }

  invalid(endpoint: EndpointLabel): void {
    this.#metrics.routerRequestErrors.cell('http', 'regular', 'http', 'unknown', endpoint, 'validation_error').value +=
      1;
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
