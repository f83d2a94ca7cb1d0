import { setTimeout as pause } from 'node:timers/promises';
import type { Registry } from './registry.ts';
import type { WorkerInstance } from './worker-instance.ts';

/** Between two looks; a local worker is ready after some 100 ms. */
const LOOK_MS = 10;

/**
 * Resolves once every worker was tried: it is ready, or a probe of it failed; after `limitMs` at the latest. Who answers
 * Envoy earlier refuses requests for want of workers that it merely does not know yet, and tells Envoy that they are
 * unhealthy, while Envoy alone would go on serving with those it knew before a restart (decisions 24).
 *
 * @returns false when the time was over first
 */
export async function everyWorkerTried(registry: Pick<Registry, 'instances'>, limitMs: number): Promise<boolean> {
  const deadline = performance.now() + limitMs;
  while (someUntried(registry.instances)) {
    if (performance.now() >= deadline) return false;
    await pause(LOOK_MS);
  }
  return true;
}

function someUntried(instances: Iterable<WorkerInstance>): boolean {
  for (const { health, lastProbe } of instances) {
    if (health.status === 'pending' && lastProbe?.ok !== false) return true;
  }
  return false;
}
