import { type ErrorCode, PROCESS_CODES } from './error-codes.ts';

/** An error that the operator can do something about, with a code that stays the same between versions. */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: ErrorCode;

  /** @param message for the operator: what is wrong, where, and what is allowed; may have several lines */
  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  /** Exit status of a command that ends with this error. */
  get exitCode(): 1 | 2 {
    return PROCESS_CODES[this.code].exit;
  }

  /** The error itself when it is one of ours, else an `internal` one that keeps it as `cause`. Never throws. */
  static from(error: unknown): AppError {
    if (error instanceof AppError) return error;
    return new AppError('internal', messageOf(error), { cause: error });
  }
}

/** Text of anything that was thrown. */
export function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message || error.name;
  try {
    return String(error);
  } catch {
    return 'unknown error';
  }
}
