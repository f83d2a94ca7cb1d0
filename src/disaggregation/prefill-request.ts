import type { PrefillOrder } from '../picker/prefill-dispatch.ts';
import type { RequestHead } from '../request/request-head.ts';
import type { PrefillWorker } from './prefill-worker.ts';

/** What SMG passes on to a worker of what the client sent (sticky-sessions 1.8); the rest is no business of a prefill. */
const FORWARDED = [
  'authorization',
  'anthropic-version',
  'anthropic-beta',
  'x-correlation-id',
  'traceparent',
  'tracestate',
  'x-smg-routing-key',
] as const;

/** Headers of the request to the prefill worker. */
export function prefillHeaders({ head, requestId }: PrefillOrder, worker: PrefillWorker): Record<string, string> {
  const headers: Record<string, string> = {
    host: worker.authority,
    accept: '*/*',
    'content-type': 'application/json',
    'user-agent': 'smg-envoy',
  };
  for (const name of FORWARDED) {
    const value = textOf(head, name);
    if (value !== null) headers[name] = value;
  }
  if (requestId !== '') headers['x-request-id'] = requestId;
  if (worker.apiKey !== null) headers['authorization'] = `Bearer ${worker.apiKey}`;
  return headers;
}

/** Null for a header that is not there, and for one whose bytes no client of ours would send. */
function textOf(head: RequestHead, name: string): string | null {
  const bytes = head.first(name);
  if (bytes === undefined) return null;
  for (const byte of bytes) if ((byte < 0x20 && byte !== 0x09) || byte === 0x7f) return null;
  return Buffer.from(bytes).toString('latin1');
}
