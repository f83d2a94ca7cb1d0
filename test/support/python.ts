import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

const supportFolder = dirname(fileURLToPath(import.meta.url));
const requirementsFile = join(supportFolder, 'python-requirements.txt');
const cacheFolder = join(dirname(dirname(supportFolder)), '.cache', 'python');

/** A Python that has the packages asked for, when it is run with `PYTHONPATH` set to `pythonPath`. */
export interface Python {
  readonly interpreter: string;
  readonly pythonPath: string;
}

/**
 * Installs the pinned packages (those of `python-requirements.txt` when none are given) without their dependencies, unless
 * the cache has them. The cache key covers the pins and the interpreter; the folder appears by rename, so that test files
 * running at once do not see half of it.
 *
 * @throws when there is no Python 3 with pip, or a package cannot be fetched
 */
export async function ensurePython(pins?: string): Promise<Python> {
  const interpreter = process.env['PYTHON'] ?? 'python3';
  const requirements = pins ?? (await readFile(requirementsFile, 'utf8'));
  const { stdout: build } = await run(interpreter, [
    '-c',
    'import sys, sysconfig; print(sys.version, sysconfig.get_platform())',
  ]);

  const key = createHash('sha256').update(requirements).update(build).digest('hex').slice(0, 16);
  const pythonPath = join(cacheFolder, key);
  if (!existsSync(pythonPath)) await install(interpreter, requirements, pythonPath);
  return { interpreter, pythonPath };
}

async function install(interpreter: string, requirements: string, target: string): Promise<void> {
  await mkdir(cacheFolder, { recursive: true });
  const partial = await mkdtemp(join(cacheFolder, 'partial-'));
  const file = `${partial}.txt`;
  try {
    await writeFile(file, requirements);
    const what = ['--quiet', '--no-deps', '--target', partial, '-r', file];
    await run(interpreter, ['-m', 'pip', 'install', ...what]);
    await rename(partial, target).catch((error: unknown) => {
      if (!existsSync(target)) throw error;
    });
  } finally {
    await rm(partial, { recursive: true, force: true });
    await rm(file, { force: true });
  }
}

/** Runs a script with `input` as JSON on its standard input, and answers with the JSON it prints. */
export async function runPython(
  python: Python,
  script: string,
  args: readonly string[],
  input: unknown,
): Promise<unknown> {
  const child = run(python.interpreter, [script, ...args], {
    env: { ...process.env, PYTHONPATH: python.pythonPath, PYTHONDONTWRITEBYTECODE: '1' },
    maxBuffer: 64 * 1024 * 1024,
  });
  child.child.stdin?.end(JSON.stringify(input));
  const { stdout } = await child;
  return JSON.parse(stdout);
}
