import { describe, expect, it } from 'vitest';
import { AppError, messageOf } from './app-error.ts';
import { PROCESS_CODES } from './error-codes.ts';

describe('AppError', () => {
  it('keeps an error of ours as it is', () => {
    const error = new AppError('timed_out', 'too late');

    expect(AppError.from(error)).toBe(error);
  });

  it.each([
    [new TypeError('no such thing'), 'no such thing'],
    [new TypeError(''), 'TypeError'],
    ['text', 'text'],
    [undefined, 'undefined'],
    [Object.create(null), 'unknown error'],
  ])('wraps anything else as internal, with its cause: %s', (thrown, message) => {
    const error = AppError.from(thrown);

    expect(error.code).toBe('internal');
    expect(error.message).toBe(message);
    expect(error.cause).toBe(thrown);
    expect(messageOf(thrown)).toBe(message);
  });

  it.each(Object.entries(PROCESS_CODES))('%s ends a command with its exit code', (code, { exit }) => {
    expect(new AppError(code as keyof typeof PROCESS_CODES, 'x').exitCode).toBe(exit);
  });
});
