/** The refusals of the service: status, code and text (sticky-sessions 7.2, decisions 12, 13 and 35). */
import type { BodyError } from '../request/body-fields.ts';
import type { Refusal } from '../routing/decision.ts';
import type { RefusalAnswer } from './answer.ts';

/** `smg`: SMG's statuses; `epp`: those of the Endpoint Picker Protocol. */
export type ErrorStyle = 'smg' | 'epp';

/** @param shedRetryAfterSecs when a request that is shed may come again, at least 1 */
export function refusalOf(
  refusal: Refusal,
  style: ErrorStyle,
  requestId: string,
  shedRetryAfterSecs: number,
): RefusalAnswer {
  if (refusal.reason === 'model_not_found') {
    const status = style === 'epp' ? 503 : 404;
    return answer(status, refusal.reason, `No worker available for model '${shortened(refusal.model)}'`, requestId);
  }
  if (refusal.reason === 'worker_overload_protection_shed') {
    const message = `All workers for model '${shortened(refusal.model)}' are overloaded`;
    const shed = answer(style === 'epp' ? 429 : 503, refusal.reason, message, requestId);
    return { ...shed, retryAfterSecs: shedRetryAfterSecs };
  }
  if (refusal.reason === 'endpoint_not_supported') {
    return answer(501, refusal.reason, 'Prefill and decode workers do not serve this endpoint', requestId);
  }
  return answer(503, refusal.reason, messageOf(refusal), requestId);
}

function messageOf({ reason, leg, detail }: Refusal): string {
  if (reason === 'no_compatible_pd_pair') return `No prefill/decode pair shares a KV transfer protocol (${detail})`;
  const words = detail ?? 'All workers are unavailable (circuit breaker open or unhealthy)';
  return leg === 'single' ? words : `No available servers: ${words}`;
}

/** @param error what is wrong with a body; null: it is larger than the limit */
export function refusalOfBody(error: BodyError | null, limitBytes: number, requestId: string): RefusalAnswer {
  if (error !== null) return answer(error.status, error.code, error.message, requestId);
  const message = `The request body is larger than ${limitBytes} bytes (--max-payload-size)`;
  return answer(413, 'request_body_too_large', message, requestId);
}

/** A client's text, short enough to be sent back. */
function shortened(text: string): string {
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}…`;
}
const MAX_SHOWN = 256;

function answer(status: number, code: RefusalAnswer['code'], message: string, requestId: string): RefusalAnswer {
  return { kind: 'refusal', status, code, message, retryAfterSecs: null, requestId };
}
