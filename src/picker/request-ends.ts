/**
 * What Envoy's access log tells: a request has ended, or still lives. Releases the count, lets the pin follow the worker
 * that served (decisions 2 and 7), feeds the circuit breakers and the metrics of answers.
 */
import type { PinStore } from '../pins/pin-store.ts';
import type { Router } from '../routing/router.ts';
import type { EndpointLabel } from '../telemetry/endpoint-label.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { InFlightEntry, InFlightLedger } from '../workers/in-flight-ledger.ts';
import { servedWorker } from '../workers/served-worker.ts';
import type { SnapshotSource } from '../workers/snapshot-source.ts';
import type { BreakerFeed } from './breaker-feed.ts';
import type { FailedAttempt, RequestEnd } from './request-end.ts';

export interface RequestEndsParts {
  readonly fleet: SnapshotSource;
  readonly pins: PinStore;
  readonly ledger: InFlightLedger;
  readonly breakers: BreakerFeed;
  readonly metrics: Metrics;
  /** The router in force. */
  readonly router: () => Router;
  /** Milliseconds, monotonic. */
  readonly clock: () => number;
  readonly onFailure: (error: unknown) => void;
}

export class RequestEnds {
  readonly #parts: RequestEndsParts;
  #logStreams = 0;
  #lastLogStreamClosedAt: number | null = null;

  constructor(parts: RequestEndsParts) {
    this.#parts = parts;
  }

  /** Access-log streams that are open now: 0 means that ends can only be guessed. */
  get logStreams(): number {
    return this.#logStreams;
  }

  /** When the last one closed, null when none ever did. */
  get lastLogStreamClosedAt(): number | null {
    return this.#lastLogStreamClosedAt;
  }

  logStreamOpened(): void {
    this.#logStreams += 1;
  }

  logStreamClosed(): void {
    this.#logStreams -= 1;
    this.#lastLogStreamClosedAt = this.#parts.clock();
  }

  ended(end: RequestEnd, now: number): void {
    const { ledger, metrics } = this.#parts;
    const entry = ledger.end(end.pickId, 'end');
    metrics.logEntries.cell(entry === undefined ? 'unknown_pick' : 'end').value += 1;
    this.#parts.breakers.ended(end, entry);
    this.#countAnswer(end, entry);
    if (entry === undefined || entry.pinKey === null) return;
    this.#parts.pins.touch(entry.pinKey, now);
    this.#follow(entry, end, now);
  }

  attemptFailed(attempt: FailedAttempt): void {
    this.#parts.metrics.logEntries.cell('attempt').value += 1;
    this.#parts.breakers.attempt(attempt);
  }

  alive(pickId: string, workerId: string, servedAddress: string, status: number, now: number): void {
    const { ledger, fleet, breakers } = this.#parts;
    breakers.running(pickId, workerId, servedAddress, status);
    const rank = ledger.get(pickId)?.worker.rank ?? null;
    const known = ledger.alive(pickId, now, servedWorker(fleet.current, workerId, servedAddress, rank)?.id);
    this.#parts.metrics.logEntries.cell(known ? 'periodic' : 'unknown_pick').value += 1;
  }

  #follow(entry: InFlightEntry, end: RequestEnd, now: number): void {
    if (entry.pinKey === null || !isServed(end)) return;
    const { pins, metrics, fleet, router, onFailure } = this.#parts;
    const served = servedWorker(fleet.current, end.workerId, end.servedAddress, entry.worker.rank);
    if (served === undefined || served.id === entry.worker.id) return;
    const pin = pins.peek(entry.pinKey);
    if (pin === undefined) return;
    // Placed anew while this request ran: the newer word counts.
    const holder = pin.candidates.find((id) => fleet.current.byId(id)?.keepsPins);
    if (holder !== undefined && holder !== entry.worker.id) return;
    const candidates = router().afterServed(entry.pinKey, pin.candidates, served.id);
    if (candidates === null) return;
    metrics.pinMoves.cell('memory').value += 1;
    const held = pins.put(entry.pinKey, candidates, pin.version, now);
    if (held instanceof Promise) held.catch(onFailure);
  }

  #countAnswer(end: RequestEnd, entry: InFlightEntry | undefined): void {
    const { metrics } = this.#parts;
    metrics.upstreamResponses.cell('http', String(end.status), '').value += 1;
    if (entry === undefined) return;
    const endpoint = entry.endpoint as EndpointLabel; // the picker opened it with one
    if (end.attempts > 1) {
      metrics.workerRetries.cell(entry.worker.type, endpoint).value += end.attempts - 1;
      if (end.retriesUsedUp) metrics.workerRetriesExhausted.cell(entry.worker.type, endpoint).value += 1;
    }
    metrics.requestDuration.cell('http', 'regular', 'http', entry.model, endpoint).observe(end.durationMs / 1000);
    const error = errorOf(end);
    if (error === null) return;
    metrics.workerErrors.cell(entry.worker.type, 'http', error).value += 1;
    metrics.routerRequestErrors.cell('http', 'regular', 'http', entry.model, endpoint, error).value += 1;
  }
}

/** What went wrong at or on the way to the last worker (envoy 10.1); null for an answer below 500 and a client that left. */
function errorOf({ status, clientGone }: RequestEnd): 'timeout' | 'backend_error' | null {
  if (status < 500 || clientGone) return null;
  // Envoy's own timeouts are 504 too; SMG counts a worker's 504 the same.
  return status === 504 ? 'timeout' : 'backend_error';
}

/** A worker answered, and not with one of the statuses that Envoy retries (decisions 31). */
function isServed({ status, codeDetails }: RequestEnd): boolean {
  return codeDetails === 'via_upstream' && status > 0 && status < 500 && status !== 408 && status !== 429;
}
