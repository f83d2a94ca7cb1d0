import { STATUS_CODES } from 'node:http';
import type { RefusalAnswer } from '../../picker/answer.ts';
import { ERROR_CODE_HEADER } from '../names.ts';
import type { HeaderChange } from './header-changes.ts';
import { isSafeHeaderValue } from './header-safety.ts';
import type { PickObserver } from './pick-observer.ts';

/** An answer to the client instead of one from a worker. */
export interface ImmediateAnswer {
  readonly status: number;
  readonly headers: readonly HeaderChange[];
  readonly body: string;
  /** Becomes the response code detail in Envoy's access log. */
  readonly details: string;
}

/** The error envelope of a refusal as an immediate response (sticky-sessions 7.1, interface 10). */
export function immediateOf(refusal: RefusalAnswer, observer: PickObserver): ImmediateAnswer {
  const headers: HeaderChange[] = [
    { name: 'content-type', value: 'application/json' },
    { name: ERROR_CODE_HEADER, value: refusal.code },
  ];
  if (isSafeHeaderValue(refusal.requestId)) headers.push({ name: 'x-request-id', value: refusal.requestId });
  else observer.headerLeftOut('x-request-id');
  if (refusal.retryAfterSecs !== null) headers.push({ name: 'retry-after', value: String(refusal.retryAfterSecs) });

  const type = STATUS_CODES[refusal.status] ?? 'Error';
  const body = JSON.stringify({ error: { type, code: refusal.code, message: refusal.message, param: null } });
  return { status: refusal.status, headers, body, details: refusal.code };
}
