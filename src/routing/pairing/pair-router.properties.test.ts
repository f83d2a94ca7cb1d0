import fc from 'fast-check';
import { expect, it } from 'vitest';
import { makeWorker, TestFleet } from '../../../test/support/fleet.ts';
import { RouterDriver } from '../../../test/support/routing.ts';
import type { LegFacts } from '../../workers/leg-facts.ts';
import type { Worker } from '../../workers/worker.ts';
import { ASSIGNMENT_MODES } from '../assignment.ts';
import { POLICY_NAMES, type PolicyName } from '../policy-name.ts';
import { mismatchOf, PAIRING_MODES } from './compatibility.ts';

const PREFILL = ['p1', 'p2', 'p3'] as const;
const DECODE = ['d1', 'd2', 'd3'] as const;
const ALL = [...PREFILL, ...DECODE];

const layout = { dtype: null, page: null, attention: null, model: null };
const runtime = fc.constantFrom('sglang', 'vllm', null);
const state = fc.constantFrom<'up' | 'down' | 'draining'>('up', 'up', 'down', 'draining');
const parts = fc.record(
  { rid: fc.constantFrom('r1', 'r2'), key: fc.constantFrom('k1', 'k2'), target: fc.constantFrom('0', '9') },
  { requiredKeys: [] },
);
const round = fc.record({ states: fc.array(state, { minLength: 6, maxLength: 6 }), parts, ends: fc.boolean() });
const legPolicy = fc.constantFrom<PolicyName>(...POLICY_NAMES);
const options = fc.record({
  pair: fc.record({ prefill: legPolicy, decode: legPolicy, mode: fc.constantFrom(...PAIRING_MODES) }),
  mode: fc.constantFrom(...ASSIGNMENT_MODES),
  keys: fc.record({ override: fc.boolean() }),
});

function factsOf(name: string | null): LegFacts {
  const transport = name === null ? null : 'nixl';
  return { runtime: name, version: null, protocol: null, transport, layout, bootstrapPort: null, engineId: null };
}

it('places every request on two workers that fit and can take it, or on none where there are no such two', () => {
  fc.assert(
    fc.property(
      options,
      fc.array(runtime, { minLength: 6, maxLength: 6 }),
      fc.array(round, { maxLength: 10 }),
      ({ pair, mode, keys }, runtimes, rounds) => {
        const fleet = new TestFleet(
          ALL.map((id, i) =>
            makeWorker(id, { type: i < PREFILL.length ? 'prefill' : 'decode', legFacts: factsOf(runtimes[i] ?? null) }),
          ),
          true,
        );
        const driver = new RouterDriver(fleet, { pair, mode, keys });
        const fits = (one: Worker, other: Worker) => mismatchOf(one.legFacts!, other.legFacts!, pair.mode) === null;
        const running: (() => void)[] = [];

        for (const { states, parts: asked, ends } of rounds) {
          for (const [i, id] of ALL.entries()) fleet.set(states[i]!, id);
          const pinned = new Set(driver.pins.list(100, null, 1).pins.flatMap((pin) => pin.candidates));
          const can = (each: Worker) => each.placeable || (each.keepsPins && pinned.has(each.id));
          const request = { path: '/v1/chat/completions', ...asked };
          const outcome = driver.route(request);

          if (outcome.kind === 'refused') {
            if (outcome.trail.ringBranch === 'target_worker_miss') continue;
            const open = fleet.snapshot.workers.filter((each) => each.placeable);
            expect(open.some((one) => open.some((two) => one.type !== two.type && fits(one, two)))).toBe(false);
            continue;
          }
          const { prefill, worker, fallbacks } = outcome;
          expect(prefill?.worker.type).toBe('prefill');
          for (const each of [worker, ...fallbacks]) {
            expect(each.type).toBe('decode');
            expect(fits(prefill!.worker, each)).toBe(true);
          }
          for (const each of [prefill!.worker, worker, ...fallbacks]) {
            expect(fleet.snapshot.byId(each.id)).toBe(each);
            expect(can(each)).toBe(true);
          }
          running.push(driver.hold(request).end);
          if (ends) running.pop()?.();
        }
        for (const end of running) end();
        expect(ALL.map((id) => fleet.load(id).requests)).toEqual(ALL.map(() => 0));
      },
    ),
    { numRuns: 300 },
  );
});
