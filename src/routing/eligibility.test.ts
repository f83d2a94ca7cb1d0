import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeWorker, TestFleet } from '../../test/support/fleet.ts';
import { makeRequest, type RequestParts, RouterDriver } from '../../test/support/routing.ts';
import type { Worker } from '../workers/worker.ts';
import { type Eligibility, eligiblePart } from './eligibility.ts';
import { POLICY_NAMES } from './policy-name.ts';

const only = (...ids: readonly string[]): Eligibility => ({ allows: (worker: Worker) => ids.includes(worker.id) });

function decide(driver: RouterDriver, parts: RequestParts, eligible: Eligibility) {
  return driver.router.decide(makeRequest(parts), driver.fleet.snapshot, driver.now, Math.random, eligible);
}

describe('the part of a pool that a request may use', () => {
  it('keeps order, and the list that caches go by', () => {
    const { snapshot } = new TestFleet(['a', 'b', 'c', 'd']);
    const pool = snapshot.pool('')!;

    const part = eligiblePart(pool, only('d', 'b', 'unknown'));

    expect(part.members.map(({ id }) => id)).toEqual(['b', 'd']);
    expect(part.available.map(({ id }) => id)).toEqual(['b', 'd']);
    expect(part.memberIds).toBe(pool.memberIds);
    expect(part.model).toBe(pool.model);
  });
});

describe('decisions within a part of the pool', () => {
  it.each(POLICY_NAMES)('%s names nobody else, neither first nor as a fallback', (policy) => {
    const ids = ['a', 'b', 'c', 'd', 'e'];
    const key = fc.option(fc.constantFrom('k1', 'k2', 'k3'), { nil: undefined });
    fc.assert(
      fc.property(fc.array(fc.record({ key, allowed: fc.subarray(ids, { minLength: 1 }) })), (requests) => {
        const driver = new RouterDriver(new TestFleet(ids), { policy, keys: { override: true } });
        for (const { key: k, allowed } of requests) {
          const outcome = decide(driver, k === undefined ? {} : { key: k }, only(...allowed));
          if (outcome.kind !== 'placed') throw new Error(`refused: ${outcome.reason}`);
          driver.commit(outcome);
          expect(allowed).toContain(outcome.worker.id);
          for (const { id } of outcome.fallbacks) expect(allowed).toContain(id);
        }
      }),
      { numRuns: 30 },
    );
  });

  it('a pin outside it does not count', () => {
    const driver = new RouterDriver(new TestFleet(['a', 'b']), { keys: { override: true } });
    const first = driver.place({ key: 'k' });
    const others = ['a', 'b'].filter((id) => id !== first.worker.id);

    expect(decide(driver, { key: 'k' }, only(...others))).toMatchObject({
      kind: 'placed',
      worker: { id: others[0] },
      trail: { stickyBranch: 'occupied_miss' },
    });
  });

  it('an empty part has nobody', () => {
    const driver = new RouterDriver(new TestFleet(['a', 'b']));
    expect(decide(driver, {}, only())).toMatchObject({ kind: 'refused', reason: 'no_available_workers' });
  });

  it('sheds when all of the part are overloaded, whoever else is not', () => {
    const busy = makeWorker('busy', { overloaded: true, placeable: false, keepsPins: false });
    const driver = new RouterDriver(new TestFleet([busy, 'idle']));
    expect(decide(driver, {}, only('busy'))).toMatchObject({
      kind: 'refused',
      reason: 'worker_overload_protection_shed',
    });
  });
});
