import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Inputs that were kept of a target: those that reach every branch, and those that once failed. */
export function readCorpus(folder: string): { name: string; input: Buffer }[] {
  mkdirSync(folder, { recursive: true });
  return readdirSync(folder)
    .sort()
    .map((name) => ({ name, input: readFileSync(join(folder, name)) }));
}

/** Answers with the path. */
export function keepInput(folder: string, kind: 'seed' | 'finding', input: Uint8Array): string {
  mkdirSync(folder, { recursive: true });
  const digest = createHash('sha256').update(input).digest('hex').slice(0, 12);
  const path = join(folder, `${kind}-${digest}.bin`);
  writeFileSync(path, input);
  return path;
}
