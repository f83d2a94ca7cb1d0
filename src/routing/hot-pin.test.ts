import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeWorker, TestFleet, TestLoad } from '../../test/support/fleet.ts';
import { type DriverOptions, makeRequest, RouterDriver } from '../../test/support/routing.ts';
import { endpointOf } from '../request/endpoint.ts';
import { exitsOf } from './hot-pin.ts';
import { POLICY_FACTS } from './policy-facts.ts';

function workersWith(loads: readonly number[]) {
  return loads.map((requests, index) => {
    const load = new TestLoad();
    load.begin(null, requests);
    return makeWorker(`w${index}`, { load });
  });
}

const exits = (loads: readonly number[], pinned: number, factor: number) => {
  const workers = workersWith(loads);
  return exitsOf(workers[pinned]!, workers, factor).map(({ id }) => id);
};

describe('sticky-sessions P8 a worker with too much to do', () => {
  it.each([
    { loads: [0, 0, 0], factor: 1.5, want: [] },
    { loads: [1, 0, 0], factor: 1.5, want: [] },
    { loads: [2, 0, 0], factor: 1.5, want: [] },
    { loads: [3, 0, 0], factor: 1.5, want: ['w1', 'w2'] },
    { loads: [6, 4, 2], factor: 1.5, want: [] },
    { loads: [7, 4, 2], factor: 1.5, want: ['w2'] },
    { loads: [7, 4, 2], factor: 2, want: [] },
    { loads: [9, 2, 1], factor: 2, want: ['w1', 'w2'] },
    { loads: [5, 5, 5], factor: 1, want: [] },
    { loads: [100], factor: 1, want: [] },
  ])('loads $loads, the key on the first, factor $factor: may go to $want', ({ loads, factor, want }) => {
    expect(exits(loads, 0, factor)).toEqual(want);
  });

  it('a key that moved has no reason to go back or on', () => {
    const loads = fc.array(fc.nat(50), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(loads, fc.double({ min: 1, max: 4, noNaN: true }), (before, factor) => {
        for (const id of exits(before, 0, factor)) {
          const moved = Number(id.slice(1));
          const after = before.map((load, index) => (index === moved ? load + 1 : load));

          expect(exits(after, moved, factor)).toEqual([]);
        }
      }),
    );
  });

  it('never takes a key to a worker with as much to do', () => {
    const loads = fc.array(fc.nat(50), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(loads, fc.double({ min: 1, max: 4, noNaN: true }), (all, factor) => {
        for (const id of exits(all, 0, factor)) expect(all[Number(id.slice(1))]).toBeLessThan(all[0]!);
      }),
    );
  });
});

describe('--pin-load-factor', () => {
  const PIN = '7:unknown:s:k';

  function hot(options: DriverOptions = {}) {
    const driver = new RouterDriver(new TestFleet(['A', 'B', 'C']), { pinLoadFactor: 1.5, ...options });
    driver.pins.put(PIN, ['A'], 0, 0);
    driver.fleet.load('A').begin(null, 9);
    return driver;
  }

  it('takes a key off a hot worker, and it stays where it went', () => {
    const driver = hot({ policy: 'passthrough' });

    const moved = driver.hold({ key: 'k' }).decision;
    const next = driver.place({ key: 'k' });

    expect([moved.worker.id, moved.trail.stickyBranch]).toEqual(['B', 'cap_respill']);
    expect([next.worker.id, next.trail.stickyBranch]).toEqual(['B', 'occupied_hit']);
    expect(driver.candidates(PIN)).toEqual(['B', 'A']);
  });

  it('names the worker it left as the first to go on to', () => {
    expect(hot({ policy: 'passthrough' }).place({ key: 'k' }).fallbacks[0]?.id).toBe('A');
  });

  it('leaves the pin alone where the mean is high, or where it is off', () => {
    const busy = hot();
    busy.fleet.load('B').begin(null, 9);
    busy.fleet.load('C').begin(null, 9);

    expect(busy.place({ key: 'k' }).worker.id).toBe('A');
    expect(hot({ pinLoadFactor: 0 }).place({ key: 'k' }).worker.id).toBe('A');
  });

  it('leaves the pin alone when the policy has no better place', () => {
    const decline = { name: 'least_load', facts: POLICY_FACTS.least_load, memory: null } as const;
    const driver = hot({ policy: { ...decline, pick: () => null, next: () => null } });

    const decision = driver.place({ key: 'k' });

    expect([decision.worker.id, decision.trail.stickyBranch, decision.write]).toEqual(['A', 'occupied_hit', null]);
  });

  it('does not ask the policy where no worker may take one more request of the key', () => {
    const driver = hot({ policy: 'round_robin', inflightCap: 1 });
    for (const id of ['B', 'C']) driver.fleet.load(id).begin('k', 1);

    const stays = driver.place({ key: 'k' });
    const unkeyed = [driver.place({}), driver.place({})].map(({ worker }) => worker.id);

    expect([stays.worker.id, stays.trail.stickyBranch]).toEqual(['A', 'occupied_hit']);
    expect(unkeyed).toEqual(['A', 'B']);
  });

  it('asks the policy among those that may take one more request of the key', () => {
    const driver = hot({ policy: 'passthrough', inflightCap: 1 });
    driver.fleet.load('B').begin('k', 1);

    expect(driver.place({ key: 'k' }).worker.id).toBe('C');
  });

  it('spreads the keys of one worker over the others until nobody is hot', () => {
    const driver = new RouterDriver(new TestFleet(['A', 'B', 'C']), { pinLoadFactor: 1.5 });
    for (let n = 0; n < 30; n++) driver.pins.put(`7:unknown:s:k${n}`, ['A'], 0, 0);

    for (let n = 0; n < 30; n++) driver.hold({ key: `k${n}` });

    const loads = ['A', 'B', 'C'].map((id) => driver.fleet.load(id).requests);
    expect(Math.max(...loads)).toBeLessThanOrEqual(1.5 * 10 + 1);
    expect(Math.min(...loads)).toBeGreaterThan(3);
  });

  it('asks for the prompt of a key that has to be placed again', () => {
    const prompts = { name: 'cache_aware', facts: POLICY_FACTS.cache_aware, memory: null } as const;
    const policy = { ...prompts, pick: () => null, next: () => null };
    const driver = hot({ policy, keys: { order: 'header-only' } });
    const { head } = makeRequest({ key: 'k' });

    expect(driver.router.bodyNeed(head, driver.fleet.snapshot, endpointOf('/v1/chat/completions'))).toBe(
      'policy_needs_text',
    );
    driver.fleet.load('A').end(null, 9);
    expect(driver.router.bodyNeed(head, driver.fleet.snapshot, endpointOf('/v1/chat/completions'))).toBeNull();
  });
});
