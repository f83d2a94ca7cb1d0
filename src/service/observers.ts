/** What the rooms report, as metrics and log lines. Series of the hot path are looked up once. */
import type { AccessLogObserver } from '../envoy/access-log/request-end-sink.ts';
import type { ExtAuthzObserver } from '../envoy/ext-authz/settings.ts';
import type { ExtProcObserver } from '../envoy/ext-proc/observer.ts';
import type { PickObserver } from '../envoy/pick/pick-observer.ts';
import type { Log } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { ANSWER_KINDS, MESSAGE_KINDS, type PassReason } from '../telemetry/own-metrics.ts';
import { BODY_PATHS } from '../telemetry/smg-metrics.ts';
import type { TransportObserver } from '../transport/transport.ts';
import type { FleetObserver } from '../workers/fleet-observer.ts';
import type { LoadObserver } from '../workers/load/load-observer.ts';

/** Told of a request that went on without a pick. */
type Passed = (cause: PassReason) => void;

const NOBODY: Passed = () => {};

/** What all protocols by which Envoy asks have in common. */
function pickObserver(metrics: Metrics, log: Log, passed: Passed): PickObserver {
  return {
    bodyPath: (reason) => {
      metrics.requestBodyPaths.cell(BODY_PATHS[reason], reason).value += 1;
    },
    passed: (cause) => {
      metrics.passes.cell(cause).value += 1;
      passed(cause);
    },
    pickFailed: (error) => log.error('a decision failed; the request went on without a pick', { error }),
    headerLeftOut: (name) => log.debug('a header was left out, as its value holds control characters', { path: name }),
  };
}

export function transportObserver(metrics: Metrics, log: Log): TransportObserver {
  const resets = metrics.resetsReceived.cell();
  return {
    handshakeFailed: (reason) => {
      const cell = metrics.handshakeFailures.cell(reason);
      if (cell.value === 0)
        log.warn('a TLS handshake on the gRPC port failed; further ones are counted only', { reason });
      cell.value += 1;
    },
    limitReached: (limit) => {
      metrics.transportLimits.cell(limit).value += 1;
    },
    resetReceived: () => {
      resets.value += 1;
    },
    goAwaySent: () => {
      metrics.goAwaysSent.cell().value += 1;
    },
  };
}

export function extAuthzObserver(metrics: Metrics, log: Log, passed: Passed = NOBODY): ExtAuthzObserver {
  const received = { check_request: metrics.messages.cell('check_request'), unknown: metrics.messages.cell('unknown') };
  const sent = {
    ok_response: metrics.answers.cell('ok_response'),
    denied_response: metrics.answers.cell('denied_response'),
  };
  return {
    ...pickObserver(metrics, log, passed),
    messageReceived: (kind) => {
      received[kind].value += 1;
    },
    answerSent: (kind) => {
      sent[kind].value += 1;
    },
  };
}

export function extProcObserver(metrics: Metrics, log: Log, passed: Passed = NOBODY): ExtProcObserver {
  const received = new Map(MESSAGE_KINDS.map((kind) => [kind, metrics.messages.cell(kind)]));
  const sent = new Map(ANSWER_KINDS.map((kind) => [kind, metrics.answers.cell(kind)]));
  const requested = metrics.bodiesRequested.cell();
  const ignored = metrics.bodyOverridesIgnored.cell();
  return {
    ...pickObserver(metrics, log, passed),
    messageReceived: (kind) => {
      const cell = received.get(kind);
      if (cell !== undefined) cell.value += 1;
    },
    answerSent: (kind) => {
      const cell = sent.get(kind);
      if (cell !== undefined) cell.value += 1;
    },
    bodyRequested: () => {
      requested.value += 1;
    },
    overrideIgnored: () => {
      if (ignored.value === 0) {
        log.warn('a body that was asked for did not come: the client left, or Envoy does not allow the mode override');
      }
      ignored.value += 1;
    },
  };
}

export function accessLogObserver(metrics: Metrics, log: Log): AccessLogObserver {
  const lag = metrics.logLag.cell();
  return {
    skipped: (kind) => {
      metrics.logEntries.cell(kind).value += 1;
    },
    malformed: () => log.warn('an access-log message could not be read; its stream was ended'),
    lagged: (ms) => lag.observe(ms / 1000),
  };
}

export function fleetObserver(metrics: Metrics, log: Log): FleetObserver {
  return {
    probed: (worker, ok) => {
      metrics.workerHealthChecks.cell(worker.type, ok ? 'success' : 'failure').value += 1;
    },
    statusChanged: (worker, previous) => {
      const fields = { worker: worker.id, status: worker.status, reason: `was ${previous}` };
      if (worker.status === 'not_ready' || worker.status === 'failed') log.warn('worker is out', fields);
      else log.info('worker changed', fields);
    },
    breakerChanged: (worker, previous) => {
      const fields = { worker: worker.id, reason: `was ${previous}` };
      if (worker.breaker === 'open') log.warn('circuit breaker opened: the worker keeps failing', fields);
      else log.info(worker.breaker === 'closed' ? 'circuit breaker closed' : 'circuit breaker half-opened', fields);
    },
    ranksTold: (worker, size) => {
      const fields = { worker: worker.url, count: size ?? 1 };
      if (size === null) log.warn('the engine tells no data-parallel ranks; it is one worker', fields);
      else log.info('the engine has told its data-parallel ranks', fields);
    },
    added: (worker) => log.info('worker added', { worker: worker.id, source: worker.source }),
    removed: (worker) => log.info('worker removed', { worker: worker.id }),
  };
}

export function loadObserver(metrics: Metrics, log: Log): LoadObserver {
  const seconds = metrics.loadPollSeconds.cell();
  return {
    polled: (_worker, result, durationMs) => {
      metrics.loadPolls.cell(result).value += 1;
      seconds.observe(durationMs / 1000);
    },
    reporting: ({ id }, reports, reason) => {
      if (reports) log.info('worker tells its load', { worker: id });
      else log.warn('worker tells no load; what is in flight here counts instead', { worker: id, reason });
    },
    overloaded: ({ id }, overloaded) => {
      if (overloaded) log.warn('worker is overloaded and gets no requests', { worker: id });
      else log.info('worker is overloaded no more', { worker: id });
    },
  };
}
