/** The processes of one variant: an Envoy, and the service that it asks, if any; or SMG, which is both. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parse, stringify } from 'yaml';
import { root } from '../../scripts/setup.mjs';
import { startSmg } from '../affinity/smg.mjs';
import { own } from '../lib/own.mjs';
import { startService } from '../lib/service.mjs';
import { withoutUs } from './plain-envoy.mjs';

const { freePort } = await import('../../dist/demo/ports.js');
const HOST = '127.0.0.1';
const READY_MS = 30_000;

/**
 * @param variant of variants.mjs
 * @param envoyBinary path of the binary
 * @param workerUrls base URLs
 * @param edit changes the parsed configuration of Envoy
 */
export async function startStack(variant, envoyBinary, workerUrls, edit) {
  if (variant.smg !== undefined) {
    const { port, pid, stop } = await startSmg(variant.smg, workerUrls);
    return { port, admin: null, envoyPid: null, servicePid: pid, stop };
  }
  const workers = ['--worker-urls', ...workerUrls];
  const own = variant.service ?? [];
  const service = variant.flags === null ? null : await startService([...workers, ...variant.flags, ...own]);
  const port = await freePort(HOST);
  try {
    const picker = ['--picker', service?.grpc ?? `${HOST}:1`];
    const given = ['--listen', `${HOST}:${port}`, ...picker, ...(variant.flags ?? ['--static-workers', ...workers])];
    const generated = configuration([...given, ...(variant.config ?? [])]);
    const printed = edit === undefined ? generated : edited(generated, edit);
    const envoy = await startEnvoy(envoyBinary, service === null ? withoutUs(printed) : printed, port);
    const stop = async () => {
      await envoy.stop();
      await service?.stop();
    };
    return { port, admin: service?.admin ?? null, envoyPid: envoy.pid, servicePid: service?.pid ?? null, stop };
  } catch (error) {
    await service?.stop();
    throw error;
  }
}

/** A configuration after a change of its parsed form. */
export function edited(yaml, edit) {
  const bootstrap = parse(yaml);
  edit(bootstrap);
  return stringify(bootstrap, { aliasDuplicateObjects: false });
}

export function configuration(flags) {
  const program = join(root, 'bin', 'smg-envoy.js');
  const done = spawnSync(process.execPath, [program, 'envoy-config', ...flags], { encoding: 'utf8' });
  if (done.status !== 0) throw new Error(`envoy-config: ${done.stderr}`);
  return done.stdout;
}

/** @param wrapper words of a command that runs the binary */
export async function startEnvoy(binary, yaml, port, wrapper = []) {
  const folder = mkdtempSync(join(tmpdir(), 'smg-envoy-bench-'));
  const file = join(folder, 'envoy.yaml');
  writeFileSync(file, yaml);
  const args = ['-c', file, '--use-dynamic-base-id', '--concurrency', '1', '-l', 'error'];
  const [command, ...words] = [...wrapper, binary, ...args];
  const child = own(spawn(command, words, { stdio: ['ignore', 'ignore', 'inherit'] }));
  const gone = new Promise((resolve) => child.once('exit', resolve));
  const stop = async () => {
    child.kill('SIGKILL');
    await gone;
    rmSync(folder, { recursive: true, force: true });
  };
  const end = performance.now() + READY_MS;
  while (!(await answers(port))) {
    if (child.exitCode === null && performance.now() < end) {
      await pause(50);
      continue;
    }
    await stop();
    throw new Error('Envoy gives no answer of a worker');
  }
  return { pid: child.pid, stop };
}

async function answers(port) {
  try {
    const answer = await fetch(`http://${HOST}:${port}/v1/models`, { signal: AbortSignal.timeout(2000) });
    await answer.arrayBuffer();
    return answer.status === 200;
  } catch {
    return false;
  }
}

/** Of an Envoy, from what it prints: `envoy  version: <commit>/<version>/<state>/…` */
export function versionOf(binary) {
  const printed = spawnSync(binary, ['--version'], { encoding: 'utf8' }).stdout;
  return /version: [^/]*\/([^/]*)\//.exec(printed)?.[1] ?? 'unknown';
}
