/**
 * What the words of Envoy say of a worker, for its circuit breaker (policies 2.3). Each attempt counts once: failed ones
 * by their own log entry where Envoy writes one, the last one of a request by the end of the request.
 */
import { type Outcome, outcomeOf } from '../workers/breaker.ts';
import { type FailedAttempt, type RequestEnd, VIA_UPSTREAM } from './request-end.ts';

/** Details of an attempt that broke off before its response; the rest names the reason (envoy 10.1). */
const RESET = 'upstream_reset_before_response_started';
/** Reason for which no worker was reached: a limit of Envoy's own. */
const OVERFLOW = 'overflow';
/** No response in time. The entry of the attempt looks like one that the client gave up. */
const TIMEOUTS = ['response_timeout', 'stream_idle_timeout'];
/** The same for one attempt; its own entry tells it. */
const ATTEMPT_TIMEOUT = 'upstream_per_try_timeout';

/** Of an attempt that Envoy's router logged: a failure, or nothing. Success is told at the end of a request. */
export function ofAttempt({ status, broken }: FailedAttempt): Outcome | null {
  if (status === 0) return broken ? 'failure' : null;
  return outcomeOf(status) === 'failure' ? 'failure' : null;
}

/** Of the last attempt of a request that has ended. */
export function ofEnd(end: RequestEnd): Outcome | null {
  const { status, codeDetails } = end;
  if (end.attempts === 0 || status === 0) return null;
  // No answer came in time. One that had begun has told its status already.
  if (status === 504 && end.firstByteMs < 0 && TIMEOUTS.includes(codeDetails)) return 'failure';
  const outcome = ofAnswer(status, codeDetails);
  return outcome === 'failure' && end.attemptsLogged ? null : outcome;
}

/** Of the worker of a running request: an answer that has begun. */
export function ofRunning(status: number): Outcome | null {
  return isBegun(status) ? 'success' : null;
}

/**
 * Of an answer on its way to the client.
 *
 * @param codeDetails Envoy's `response_code_details`; null where it does not send them
 */
export function ofAnswer(status: number, codeDetails: string | null): Outcome | null {
  if (codeDetails === null || codeDetails === VIA_UPSTREAM) return outcomeOf(status);
  // Cut by the worker or left by the client, after the worker began to answer (SMG counts at the response headers).
  if (isBegun(status)) return 'success';
  if (codeDetails.startsWith(RESET)) return codeDetails.startsWith(`${RESET}{${OVERFLOW}`) ? null : 'failure';
  return codeDetails === ATTEMPT_TIMEOUT || (status === 504 && TIMEOUTS.includes(codeDetails)) ? 'failure' : null;
}

/**
 * A worker answered, and not with one of the statuses that Envoy retries (decisions 31).
 *
 * @param codeDetails null where Envoy does not send them
 */
export function isServed(status: number, codeDetails: string | null): boolean {
  const byWorker = codeDetails === null || codeDetails === VIA_UPSTREAM;
  return byWorker && status > 0 && status < 500 && status !== 408 && status !== 429;
}

/** Envoy's own answers are all errors. */
function isBegun(status: number): boolean {
  return status > 0 && status < 400;
}
