import { afterEach } from 'vitest';
import { HealthChecker, type HealthCheckerOptions } from '../../src/workers/health-checker.ts';
import { DEFAULT_HEALTH } from '../../src/workers/health-settings.ts';
import { Registry } from '../../src/workers/registry.ts';
import type { RegistryOptions } from '../../src/workers/registry-options.ts';
import { specOf } from './registry-bench.ts';
import { StubWorker } from './stub-worker.ts';
import { until } from './until.ts';

/** A registry whose workers are probed for real, fast; what a test starts ends with it. */

export const FAST = { ...DEFAULT_HEALTH, intervalSecs: 0.03, timeoutSecs: 0.2 };
const cleanUp: (() => unknown)[] = [];

afterEach(async () => {
  for (const each of cleanUp.splice(0).reverse()) await each();
});

export async function stub(host?: string): Promise<StubWorker> {
  const worker = await StubWorker.start(host);
  cleanUp.push(() => worker.dies());
  return worker;
}

export function fleet(options: HealthCheckerOptions & RegistryOptions = {}) {
  const registry = new Registry(options);
  const checker = new HealthChecker(registry, { health: FAST, startupIntervalMs: 50, ...options });
  cleanUp.push(() => {
    checker.close();
    registry.close();
  });
  const statuses: string[] = [];
  registry.subscribe((snapshot) => {
    const status = snapshot.workers[0]?.status ?? 'gone';
    if (statuses.at(-1) !== status) statuses.push(status);
  });
  const add = (url: string, fields: object = {}) => registry.add(specOf(url, fields), 'api').worker.id;
  const becomes = (id: string, status: string) =>
    until(() => registry.current.byId(id)?.status === status, `${id} ${status}`, 5_000);
  return { registry, checker, add, becomes, statuses, worker: (id: string) => registry.current.byId(id)! };
}
