/**
 * What Envoy's access log tells: a request has ended, or still lives. Releases the count, lets the pin follow the worker
 * that served (decisions 2 and 7), feeds the circuit breakers and the metrics of answers.
 */
import type { PinStore } from '../pins/pin-store.ts';
import type { EndpointLabel } from '../telemetry/endpoint-label.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { InFlightEntry, InFlightLedger } from '../workers/in-flight-ledger.ts';
import { servedWorker } from '../workers/served-worker.ts';
import type { SnapshotSource } from '../workers/snapshot-source.ts';
import type { BreakerFeed } from './breaker-feed.ts';
import { isServed } from './outcomes.ts';
import type { PinFollower } from './pin-follower.ts';
import type { FailedAttempt, RequestEnd } from './request-end.ts';

export interface RequestEndsParts {
  readonly fleet: SnapshotSource;
  readonly pins: PinStore;
  readonly ledger: InFlightLedger;
  readonly breakers: BreakerFeed;
  readonly follower: PinFollower;
  readonly metrics: Metrics;
  /** Milliseconds, monotonic. */
  readonly clock: () => number;
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

  /** An id may have been told before its pick was made (`reservePickId`), which a refusal or a client that left prevented. */
  ended(end: RequestEnd, now: number): void {
    const { ledger, metrics } = this.#parts;
    const whole = !end.clientGone && end.status < 400 && isServed(end.status, end.codeDetails);
    const entry = ledger.end(end.pickId, 'end', whole);
    if (entry === undefined && end.attempts === 0) {
      metrics.logEntries.cell('no_pick').value += 1;
      return;
    }
    metrics.logEntries.cell(entry === undefined ? 'unknown_pick' : 'end').value += 1;
    this.#parts.breakers.ended(end, entry);
    this.#countAnswer(end, entry);
    if (entry === undefined || entry.pinKey === null) return;
    this.#parts.pins.touch(entry.pinKey, now);
    if (!isServed(end.status, end.codeDetails)) return;
    const served = servedWorker(this.#parts.fleet.current, end.workerId, end.servedAddress, entry.worker.rank);
    this.#parts.follower.follow(entry, served, now);
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
    const kind = known ? 'periodic' : servedAddress === '' ? 'no_pick' : 'unknown_pick';
    this.#parts.metrics.logEntries.cell(kind).value += 1;
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
    const backend = entry.worker.type === 'regular' ? 'regular' : 'pd';
    metrics.requestDuration.cell('http', backend, 'http', entry.model, endpoint).observe(end.durationMs / 1000);
    if (entry.companion !== null && end.firstByteMs >= 0 && end.status < 400) {
      const runtime = entry.worker.legFacts?.runtime ?? 'unknown';
      metrics.pdTimeToFirstToken.cell('pd', entry.model, runtime).observe(end.firstByteMs / 1000);
    }
    const error = errorOf(end);
    if (error === null) return;
    metrics.workerErrors.cell(entry.worker.type, 'http', error).value += 1;
    metrics.routerRequestErrors.cell('http', backend, 'http', entry.model, endpoint, error).value += 1;
  }
}

/** What went wrong at or on the way to the last worker (envoy 10.1); null for an answer below 500 and a client that left. */
function errorOf({ status, clientGone }: RequestEnd): 'timeout' | 'backend_error' | null {
  if (status < 500 || clientGone) return null;
  // Envoy's own timeouts are 504 too; SMG counts a worker's 504 the same.
  return status === 504 ? 'timeout' : 'backend_error';
}
