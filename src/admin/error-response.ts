import { STATUS_CODES } from 'node:http';
import { HTTP_CODES, type HttpErrorCode } from '../util/error-codes.ts';

/** A failure in the error envelope, the same as for clients of Envoy (interface 10, decisions 41). */
export function errorResponse(
  code: HttpErrorCode,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const { status } = HTTP_CODES[code];
  const error = { type: STATUS_CODES[status] ?? 'Error', code, message, param: null };
  return Response.json({ error }, { status, headers: { 'x-smg-error-code': code, ...headers } });
}
