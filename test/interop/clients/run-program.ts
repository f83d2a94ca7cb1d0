import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { HEALTH_REQUEST } from '../health-call.ts';

const LONGEST_MS = 60_000;

/** What a program wrote to stdout, a character for each byte. Rejects when it fails. */
export async function runProgram(command: string, args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(command, args, { encoding: 'latin1', timeout: LONGEST_MS });
  return stdout;
}

/** Runs something that sends a file: the framed health check. */
export async function withHealthRequest<T>(send: (path: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'smg-interop-request-'));
  try {
    const path = join(folder, 'health.bin');
    writeFileSync(path, HEALTH_REQUEST);
    return await send(path);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
