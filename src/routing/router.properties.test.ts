import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TestFleet } from '../../test/support/fleet.ts';
import { RouterDriver } from '../../test/support/routing.ts';
import { ASSIGNMENT_MODES } from './assignment.ts';
import { KEY_ORDERS } from './key-sources.ts';
import { POLICY_NAMES, type PolicyName } from './policy-name.ts';
import { FAILBACKS } from './stickiness.ts';

describe('every decision', () => {
  const parts = fc.record(
    {
      rid: fc.constantFrom('r1', 'r2'),
      key: fc.constantFrom('k1', 'k2_t1', ''),
      target: fc.constantFrom('0', '9'),
    },
    { requiredKeys: [] },
  );
  const states = fc.constantFrom('up', 'up', 'down', 'draining');
  const round = fc.record({ states: fc.tuple(states, states, states, states), parts });
  const options = fc.record({
    policy: fc.constantFrom<PolicyName>(...POLICY_NAMES),
    mode: fc.constantFrom(...ASSIGNMENT_MODES),
    override: fc.boolean(),
    order: fc.constantFrom(...KEY_ORDERS),
    fallbacks: fc.nat(4),
    failback: fc.constantFrom(...FAILBACKS),
    pinLoadFactor: fc.constantFrom(0, 1, 1.5),
  });
  const WORKERS = ['A', 'B', 'C', 'D'] as const;
  type Drawn<A> = A extends fc.Arbitrary<infer T> ? T : never;

  function run(chosen: Drawn<typeof options>, rounds: readonly Drawn<typeof round>[]) {
    let seed = 1;
    const random = () => {
      seed = (seed * 16807) % 2147483647;
      return seed / 2147483647;
    };
    const driver = new RouterDriver(new TestFleet(WORKERS), {
      policy: chosen.policy,
      mode: chosen.mode,
      keys: { override: chosen.override, order: chosen.order },
      fallbacks: chosen.fallbacks,
      failback: chosen.failback,
      pinLoadFactor: chosen.pinLoadFactor,
      random,
    });
    return rounds.map((each) => {
      for (const [i, id] of WORKERS.entries()) driver.fleet.set(each.states[i]!, id);
      const remembered = new Set(driver.pins.list(100, null, 1).pins.flatMap((pin) => pin.candidates));
      const outcome = driver.route(each.parts);
      if (outcome.kind === 'placed') driver.fleet.load(outcome.worker.id).begin(outcome.loadKey);
      return { outcome, remembered, fleet: driver.fleet.snapshot };
    });
  }

  it('names only workers that can serve, each once, at most 1 + fallbacks', () => {
    fc.assert(
      fc.property(options, fc.array(round, { maxLength: 12 }), (chosen, rounds) => {
        for (const { outcome, remembered, fleet } of run(chosen, rounds)) {
          if (outcome.kind === 'refused') continue;
          const named = [outcome.worker, ...outcome.fallbacks];
          expect(named.length).toBeLessThanOrEqual(1 + chosen.fallbacks);
          expect(new Set(named).size).toBe(named.length);
          for (const worker of named) {
            expect(fleet.byId(worker.id)).toBe(worker);
            expect(worker.placeable || (worker.keepsPins && remembered.has(worker.id))).toBe(true);
          }
        }
      }),
    );
  });

  it('refuses only a missed target or when no worker can take the request', () => {
    fc.assert(
      fc.property(options, fc.array(round, { maxLength: 12 }), (chosen, rounds) => {
        for (const { outcome, fleet } of run(chosen, rounds)) {
          if (outcome.kind === 'placed' || outcome.trail.ringBranch === 'target_worker_miss') continue;
          expect(fleet.workers.some((worker) => worker.placeable)).toBe(false);
        }
      }),
    );
  });

  it('is the same for the same inputs', () => {
    fc.assert(
      fc.property(options, fc.array(round, { maxLength: 12 }), (chosen, rounds) => {
        const shown = () =>
          run(chosen, rounds).map(({ outcome }) =>
            outcome.kind === 'refused'
              ? outcome
              : { ...outcome, worker: outcome.worker.id, fallbacks: outcome.fallbacks.map(({ id }) => id) },
          );

        expect(shown()).toEqual(shown());
      }),
    );
  });

  it('writes only the key that it names, with its own worker on the list', () => {
    fc.assert(
      fc.property(options, fc.array(round, { maxLength: 12 }), (chosen, rounds) => {
        for (const { outcome } of run(chosen, rounds)) {
          if (outcome.kind === 'refused' || outcome.write === null) continue;
          expect(outcome.write.key).toBe(outcome.pinKey);
          expect(outcome.write.candidates).toContain(outcome.worker.id);
          expect(outcome.write.candidates.length).toBeLessThanOrEqual(2);
          expect(new Set(outcome.write.candidates).size).toBe(outcome.write.candidates.length);
        }
      }),
    );
  });
});
