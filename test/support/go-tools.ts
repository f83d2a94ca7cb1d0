import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

const module = fileURLToPath(new URL('../interop/tools/', import.meta.url));
const cache = fileURLToPath(new URL('../../.cache/go-tools/', import.meta.url));

/** Programs that `test/interop/tools` pins, and where their modules have them. */
const PROGRAMS = {
  h2spec: 'github.com/summerwind/h2spec/cmd/h2spec',
  grpcurl: 'github.com/fullstorydev/grpcurl/cmd/grpcurl',
};

export type GoTool = keyof typeof PROGRAMS;

export interface FoundTool {
  /** Empty when there is a reason. */
  readonly path: string;
  /** Why this machine cannot have it. */
  readonly reason?: string;
}

/**
 * Builds a program unless the cache has it: a minute at most, once. Each is asked for by one test file, so no two workers build the
 * same; it appears by rename, so that none runs half of it.
 */
export async function findGoTool(name: GoTool): Promise<FoundTool> {
  try {
    return { path: await ensure(name) };
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      return { path: '', reason: 'no go on PATH' };
    }
    return { path: '', reason: `go cannot build ${name} (${lastLine(error)})` };
  }
}

async function ensure(name: GoTool): Promise<string> {
  // What is pinned, and nothing that the environment or a newer Go would change about it. No C compiler is needed.
  const env = { ...process.env, GOFLAGS: '-mod=readonly', GOWORK: 'off', GOTOOLCHAIN: 'local', CGO_ENABLED: '0' };
  const { stdout: platform } = await run('go', ['env', 'GOVERSION', 'GOOS', 'GOARCH'], { env });
  const sums = await readFile(join(module, 'go.sum'));
  const key = createHash('sha256').update(sums).update(platform).digest('hex').slice(0, 16);
  const target = join(cache, key, name);
  if (existsSync(target)) return target;

  await mkdir(join(cache, key), { recursive: true });
  const partial = await mkdtemp(join(cache, 'partial-'));
  try {
    const what = ['-trimpath', '-ldflags=-s -w', '-o', partial, PROGRAMS[name]];
    await run('go', ['build', ...what], { cwd: module, env });
    await rename(join(partial, name), target);
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
  return target;
}

function lastLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.trim().split('\n').at(-1) ?? '';
}
