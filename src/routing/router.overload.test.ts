import { describe, expect, it } from 'vitest';
import { makeWorker, TestFleet } from '../../test/support/fleet.ts';
import { type DriverOptions, RouterDriver } from '../../test/support/routing.ts';
import type { Worker } from '../workers/worker.ts';

describe('policies 2.2 a model whose workers are all overloaded', () => {
  const overloaded = { status: 'ready', overloaded: true, placeable: false, keepsPins: false } as const;
  const out = { status: 'not_ready', placeable: false, keepsPins: false } as const;

  function fleetOf(states: readonly Partial<Worker>[], options: DriverOptions = {}) {
    const workers = states.map((state, index) => makeWorker('ABCDEF'[index]!, { models: ['m'], ...state }));
    return new RouterDriver(new TestFleet(workers), options);
  }

  it.each([
    { states: [overloaded, overloaded], reason: 'worker_overload_protection_shed' },
    { states: [overloaded, out], reason: 'no_available_workers' },
    { states: [out, out], reason: 'no_available_workers' },
    { states: [overloaded, { ...overloaded, status: 'draining' }], reason: 'worker_overload_protection_shed' },
  ] satisfies { states: Partial<Worker>[]; reason: string }[])('$states: $reason', ({ states, reason }) => {
    expect(fleetOf(states).route({ model: 'm' })).toMatchObject({ kind: 'refused', reason, model: 'm' });
  });

  it.each([
    { policy: 'round_robin', parts: {}, sticky: null, ring: null, prefix: null },
    { policy: 'round_robin', parts: { key: 'k' }, sticky: 'no_healthy_workers', ring: null, prefix: null },
    { policy: 'manual', parts: {}, sticky: 'no_healthy_workers', ring: null, prefix: null },
    { policy: 'manual', parts: { key: 'k' }, sticky: 'no_healthy_workers', ring: null, prefix: null },
    { policy: 'consistent_hashing', parts: { key: 'k' }, sticky: null, ring: null, prefix: null },
  ] as const)('$policy with $parts notes $sticky, $ring', ({ policy, parts, sticky, ring, prefix }) => {
    for (const shed of [true, false]) {
      const { trail } = fleetOf([overloaded, overloaded], { policy, shed }).route({ model: 'm', ...parts });

      expect([trail.stickyBranch, trail.ringBranch, trail.prefixBranch, trail.pastVeto]).toEqual([
        sticky,
        ring,
        prefix,
        !shed,
      ]);
    }
  });

  it('uses a worker that is not overloaded, and one that drains for a key that it holds', () => {
    const driver = fleetOf([overloaded, {}, { status: 'draining', placeable: false }], { shed: false });
    driver.pins.put('1:m:s:k', ['C'], 0, 0);

    expect(driver.place({ model: 'm' }).worker.id).toBe('B');
    expect(driver.place({ model: 'm', key: 'k' }).worker.id).toBe('C');
  });

  describe('smg-observed 6 without a shed, as SMG 1.13', () => {
    it('asks the least loaded worker, past pin and policy, and writes no pin', () => {
      const driver = fleetOf([overloaded, overloaded, overloaded], { shed: false });
      driver.pins.put('1:m:s:k', ['A'], 0, 0);
      driver.fleet.load('A').begin('other', 2);
      driver.fleet.load('B').begin('other', 1);
      driver.fleet.load('C').begin('other', 3);

      const decision = driver.place({ model: 'm', key: 'k' });

      expect([decision.worker.id, decision.pinKey, decision.write]).toEqual(['B', null, null]);
      expect([decision.policy, decision.loadKey, decision.trail.keySource]).toEqual(['round_robin', 'k', 'header']);
      expect(driver.candidates('1:m:s:k')).toEqual(['A']);
    });

    it('breaks ties evenly, and names the others to go on to', () => {
      const driver = fleetOf([overloaded, overloaded, overloaded], { shed: false, random: Math.random });
      const decisions = Array.from({ length: 60 }, () => driver.place({ model: 'm' }));

      expect(new Set(decisions.map(({ worker }) => worker.id))).toEqual(new Set(['A', 'B', 'C']));
      for (const { worker, fallbacks } of decisions) {
        expect([worker, ...fallbacks].map(({ id }) => id).toSorted()).toEqual(['A', 'B', 'C']);
      }
    });

    it.each([{ breaker: 'open' }, { address: '' }, { status: 'draining' }] as const)(
      'asks none that something else keeps out: %j',
      (why) => {
        const driver = fleetOf([{ ...overloaded, ...why }, overloaded], { shed: false });
        driver.fleet.load('B').begin(null, 9);

        expect(driver.place({ model: 'm' }).worker.id).toBe('B');
        expect(fleetOf([{ ...overloaded, ...why }], { shed: false }).route({ model: 'm' })).toMatchObject({
          reason: 'no_available_workers',
        });
      },
    );

    it('refuses one overloaded beside one that is out', () => {
      expect(fleetOf([overloaded, out], { shed: false }).route({ model: 'm' })).toMatchObject({
        reason: 'no_available_workers',
      });
    });
  });
});
