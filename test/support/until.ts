import { setTimeout as pause } from 'node:timers/promises';

/**
 * Asks again until the probe gives something true, and returns it. A probe that throws counts as "not yet"; after `ms`
 * the last error is the cause.
 */
export async function until<T>(probe: () => T | Promise<T>, what: string, ms = 15_000): Promise<NonNullable<T>> {
  const end = performance.now() + ms;
  let cause: unknown;
  for (;;) {
    try {
      const value = await probe();
      if (value) return value;
    } catch (error) {
      cause = error;
    }
    if (performance.now() > end) throw new Error(`${what}: not within ${ms} ms`, { cause });
    await pause(20);
  }
}
