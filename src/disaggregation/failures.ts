import type { PrefillFailure } from '../picker/prefill-dispatch.ts';

export function prefillFailure(status: number, code: PrefillFailure['code'], message: string): PrefillFailure {
  return { kind: 'failed', status, code, message };
}

/** Clients may not see the address. */
export const UNREACHABLE = 'The prefill worker could not be reached';

export function bodyTooLarge(): PrefillFailure {
  return prefillFailure(
    413,
    'request_body_too_large',
    'The request body is too large to name the room where two workers meet',
  );
}
