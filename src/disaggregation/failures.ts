import type { PrefillFailure, PrefillOrder } from '../picker/prefill-dispatch.ts';

export function prefillFailure(status: number, code: PrefillFailure['code'], message: string): PrefillFailure {
  return { kind: 'failed', status, code, message };
}

/** Clients may not see the address. */
export const UNREACHABLE = 'The prefill worker could not be reached';

/** The body cannot name the room where two workers meet: it cannot be changed, was not read whole, or would be too large. */
export function noRoomIn({ body, mostBodyBytes }: Pick<PrefillOrder, 'body' | 'mostBodyBytes'>): PrefillFailure {
  if (mostBodyBytes === 0) {
    const message = 'Request bodies cannot be changed here, so that a prefill and a decode worker cannot meet';
    return prefillFailure(501, 'endpoint_not_supported', message);
  }
  const what = body === null ? 'could not be read whole' : 'is too large';
  return prefillFailure(
    413,
    'request_body_too_large',
    `The request body ${what}, so that it cannot name the room where a prefill and a decode worker meet`,
  );
}
