import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { AppError } from '../util/app-error.ts';
import { type EnvoyRuntime, envoyCommand } from './envoy-runtime.ts';
import { type GuardedChild, startGuarded } from './guarded-child.ts';

const READY_MS = 30_000;

/** An Envoy of the demo. */
export interface DemoEnvoy {
  readonly configFile: string;
  readonly ended: Promise<number | null>;
  stop(): Promise<void>;
}

/**
 * Runs Envoy with a configuration and waits until it serves: its own readiness, and an answer other than "no worker" at
 * `url`. What it writes goes to `write`.
 *
 * @throws AppError `child_failed` when it ends before that, `timed_out`
 */
export async function runEnvoy(
  runtime: EnvoyRuntime,
  yaml: string,
  url: string,
  adminUrl: string,
  write: (text: string) => void,
): Promise<DemoEnvoy> {
  const folder = mkdtempSync(join(tmpdir(), 'smg-envoy-demo-'));
  const configFile = join(folder, 'envoy.yaml');
  writeFileSync(configFile, yaml);
  // Errors only: of its warnings at start none concerns a demo.
  const flags = ['-c', configFile, '--disable-hot-restart', '--concurrency', '2', '-l', 'error'];
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  let child: GuardedChild;
  try {
    child = await startGuarded(envoyCommand(runtime, folder, flags), write);
  } catch (error) {
    remove();
    throw error;
  }
  const stop = async (): Promise<void> => {
    await child.stop();
    remove();
  };
  try {
    await ready(child, url, adminUrl);
  } catch (error) {
    await stop();
    throw error;
  }
  return { configFile, ended: child.ended, stop };
}

async function ready(child: GuardedChild, url: string, adminUrl: string): Promise<void> {
  let code: number | null | undefined;
  void child.ended.then((value) => {
    code = value;
  });
  const end = performance.now() + READY_MS;
  while (performance.now() < end) {
    if (code !== undefined) throw new AppError('child_failed', `Envoy ended with exit code ${code}`);
    if ((await statusOf(`${adminUrl}/ready`)) === 200 && (await statusOf(`${url}/v1/models`)) === 200) return;
    await pause(50);
  }
  throw new AppError('timed_out', `Envoy gave no answer of a worker within ${READY_MS / 1000} s`);
}

/** 0 when there is no answer. */
async function statusOf(url: string): Promise<number> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(2000) });
    await answer.arrayBuffer();
    return answer.status;
  } catch {
    return 0;
  }
}
