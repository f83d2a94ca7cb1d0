import { afterEach, describe, expect, it } from 'vitest';
import { everyWorkerTried } from './first-look.ts';
import { DEFAULT_HEALTH } from './health-settings.ts';
import { Registry } from './registry.ts';
import { plainSpec } from './worker-spec.ts';
import { parseWorkerUrl } from './worker-url.ts';

const A = 'http://127.0.0.1:8001';
const B = 'http://127.0.0.1:8002';

let registry: Registry;
afterEach(() => registry.close());

function fleetOf(...urls: string[]): void {
  registry = new Registry();
  for (const url of urls) {
    const result = parseWorkerUrl(url);
    if (!result.ok) throw new Error(result.message);
    registry.add(plainSpec(result.url), 'flags');
  }
}

function probed(url: string, ok: boolean): void {
  const report = { at: 0, ok, detail: '', durationMs: 1 };
  registry.probed(registry.instance(url)!, report, DEFAULT_HEALTH, true);
}

/** Whether it has resolved by the next turn but one, with an answer. */
async function answered(look: Promise<boolean>): Promise<boolean | 'waits'> {
  const waits = new Promise<'waits'>((resolve) => setImmediate(() => resolve('waits')));
  return Promise.race([look, waits]);
}

describe('the first look at a fleet', () => {
  it('has nothing to wait for without workers', async () => {
    fleetOf();

    expect(await answered(everyWorkerTried(registry, 60_000))).toBe(true);
  });

  it('waits for a worker on its way to ready, not for one that failed a probe', async () => {
    fleetOf(A, B);
    probed(A, true);
    probed(B, false);

    const look = everyWorkerTried(registry, 60_000);

    expect(await answered(look)).toBe('waits');
    probed(A, true);
    expect(await look).toBe(true);
  });

  it('waits for a worker that is not to be probed', async () => {
    fleetOf(A);
    const look = everyWorkerTried(registry, 60_000);

    expect(await answered(look)).toBe('waits');
    registry.assumeReady(registry.instance(A)!);

    expect(await look).toBe(true);
  });

  it('gives up on a worker that does not answer', async () => {
    fleetOf(A);

    expect(await everyWorkerTried(registry, 20)).toBe(false);
  });
});
