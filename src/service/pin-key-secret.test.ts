import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AppError } from '../util/app-error.ts';
import { readPinKeySecret } from './pin-key-secret.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'smg-envoy-secret-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function file(content: string | Uint8Array): string {
  const path = join(folder, 'secret');
  writeFileSync(path, content);
  return path;
}

function problemOf(path: string): [string, string] {
  try {
    readPinKeySecret(path);
  } catch (error) {
    const known = AppError.from(error);
    return [known.code, known.message];
  }
  throw new Error('it was accepted');
}

const SIXTEEN = '0123456789abcdef';

describe('sticky-sessions P15 the secret of pin keys', () => {
  it.each([
    ['16 bytes', SIXTEEN, SIXTEEN],
    ['a newline at the end', `${SIXTEEN}\n`, SIXTEEN],
    ['a newline of Windows', `${SIXTEEN}\r\n`, SIXTEEN],
    ['one newline only', `${SIXTEEN}\n\n`, `${SIXTEEN}\n`],
    ['blanks', ` ${SIXTEEN} `, ` ${SIXTEEN} `],
    ['a bare carriage return', `${SIXTEEN}\r`, `${SIXTEEN}\r`],
  ])('%s', (_, content, secret) => {
    expect(readPinKeySecret(file(content))?.toString()).toBe(secret);
  });

  it('may be any bytes', () => {
    const bytes = Uint8Array.from({ length: 32 }, (_, index) => 255 - index);
    expect(readPinKeySecret(file(bytes))).toEqual(Buffer.from(bytes));
  });

  it('is none without a file', () => {
    expect(readPinKeySecret(null)).toBeNull();
  });

  it.each([
    ['empty', '', 0],
    ['short by the newline', `${SIXTEEN.slice(1)}\n`, 15],
    ['another file', 'a'.repeat(4097), 4097],
  ])('%s is refused, with the cure and not with the secret', (_, content, length) => {
    const path = file(content);
    const cure = 'make one with: openssl rand -hex 32';
    expect(problemOf(path)).toEqual([
      'invalid_configuration',
      `--pin-key-hmac-file ${path}: expected a secret of 16 to 4096 bytes, and it has ${length}; ${cure}`,
    ]);
  });

  it.each(['/nowhere/secret', '/dev/zero', tmpdir()])('%s cannot be read', (path) => {
    const [code, message] = problemOf(path);
    expect(code).toBe('unreadable_file');
    expect(message).toMatch(new RegExp(`^--pin-key-hmac-file ${path}: cannot be read: .*; make one with: `));
  });
});
