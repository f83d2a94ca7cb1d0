import { readFileSync, statSync } from 'node:fs';
import { AppError, messageOf } from '../util/app-error.ts';

/** Shorter ones could be tried out. */
const MIN_BYTES = 16;
/** What is longer is another file. */
const MAX_BYTES = 4096;
const CURE = 'make one with: openssl rand -hex 32';

/**
 * The secret of `--pin-key-hmac-file`, without the newline at its end that editors put there; null where no file is named.
 *
 * @throws AppError `unreadable_file`, or `invalid_configuration` for a file that holds no secret
 */
export function readPinKeySecret(path: string | null): Buffer | null {
  if (path === null) return null;
  const secret = withoutNewline(read(path));
  if (secret.length >= MIN_BYTES && secret.length <= MAX_BYTES) return secret;
  const found = `expected a secret of ${MIN_BYTES} to ${MAX_BYTES} bytes, and it has ${secret.length}`;
  throw new AppError('invalid_configuration', `--pin-key-hmac-file ${path}: ${found}; ${CURE}`);
}

function read(path: string): Buffer {
  try {
    // A device could be endless, a pipe could block.
    if (!statSync(path).isFile()) throw new Error('it is not a regular file');
    return readFileSync(path);
  } catch (error) {
    throw new AppError('unreadable_file', `--pin-key-hmac-file ${path}: cannot be read: ${messageOf(error)}; ${CURE}`);
  }
}

const LF = 0x0a;
const CR = 0x0d;

function withoutNewline(text: Buffer): Buffer {
  if (text.at(-1) !== LF) return text;
  return text.subarray(0, text.at(-2) === CR ? -2 : -1);
}
