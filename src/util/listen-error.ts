import { AppError, messageOf } from './app-error.ts';

/**
 * Why nobody can listen at `place`, as an error of the operator: `address_in_use` when it is taken, else
 * `address_unusable`.
 */
export function listenError(place: string, error: unknown): AppError {
  const taken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
  const reason = taken ? 'address already in use' : messageOf(error);
  return new AppError(taken ? 'address_in_use' : 'address_unusable', `cannot listen on ${place}: ${reason}`, {
    cause: error,
  });
}
