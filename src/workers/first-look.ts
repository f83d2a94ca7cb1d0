import { setTimeout as pause } from 'node:timers/promises';
import type { JudgedSource } from './snapshot-source.ts';

/** Between two looks; a local worker is ready after some 100 ms. */
const LOOK_MS = 10;

/**
 * Resolves once the fleet was judged, after `limitMs` at the latest. Who answers Envoy earlier tells it that all workers
 * are unhealthy, and can place no conversation where it belongs, while Envoy alone goes on with what it knew before a
 * restart (decisions 24).
 *
 * @returns false when the time was over first
 */
export async function untilJudged(fleet: Pick<JudgedSource, 'judged'>, limitMs: number): Promise<boolean> {
  const deadline = performance.now() + limitMs;
  while (!fleet.judged) {
    if (performance.now() >= deadline) return false;
    await pause(LOOK_MS);
  }
  return true;
}
