import type { RequestHead } from '../request/request-head.ts';

/** The declared length of the body in bytes, -1 when none is declared. Envoy refuses a value that is no number. */
export function contentLength(head: RequestHead): number {
  const bytes = head.first('content-length');
  if (bytes === undefined || bytes.length === 0 || bytes.length > 15) return -1;
  let length = 0;
  for (let i = 0; i < bytes.length; i++) {
    const digit = (bytes[i] ?? 0) - 0x30;
    if (digit < 0 || digit > 9) return -1;
    length = length * 10 + digit;
  }
  return length;
}
