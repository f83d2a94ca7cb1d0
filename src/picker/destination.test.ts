import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PickerBench } from '../../test/support/picker-bench.ts';
import { POLICY_NAMES } from '../routing/policy-name.ts';

/** A body that every policy can go by. */
const BODY = { model: 'm', messages: [{ role: 'user', content: 'a prompt of some length' }] };

describe('endpoint-picker-protocol P12 the list of endpoints', () => {
  it.each(POLICY_NAMES)('%s names ready workers only, none twice, at most as many as wanted', (policy) => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.integer({ min: 1, max: 6 }), { maxLength: 4 }),
        fc.integer({ min: 0, max: 4 }),
        (down, fallbacks) => {
          const bench = new PickerBench({ policy, routing: { fallbacks } }).ready(1, 2, 3, 4, 5, 6);
          for (const n of down) bench.down(n);
          const ready = [1, 2, 3, 4, 5, 6].filter((n) => !down.includes(n)).map((n) => `10.0.0.${n}:8000`);

          for (let i = 0; i < 4; i += 1) {
            const list = bench.pick(BODY).destination.split(',');
            expect(new Set(list).size).toBe(list.length);
            expect(list.filter((address) => !ready.includes(address))).toEqual([]);
            expect(list.length).toBeLessThanOrEqual(Math.min(fallbacks + 1, ready.length));
          }
        },
      ),
      { numRuns: 10 },
    );
  });

  it('goes on in the order in which the policy would choose', () => {
    const bench = new PickerBench({ policy: 'least_load' }).ready(1, 2, 3, 4);
    const load = [2, 0, 3, 1];
    for (const [i, requests] of load.entries()) {
      for (let k = 0; k < requests; k += 1) {
        bench.ledger.open({
          pickId: `${i}-${k}`,
          worker: bench.worker(i + 1),
          loadKey: null,
          pinKey: null,
          model: 'm',
          endpoint: 'chat',
          now: 0,
          periodicLogMs: 0,
        });
      }
    }

    expect(bench.pick(BODY).destination).toBe('10.0.0.2:8000,10.0.0.4:8000,10.0.0.1:8000');
  });

  it('names the engine of ranks once', () => {
    const bench = new PickerBench({ policy: 'round_robin' }).engine(1, 4).engine(2, 4);

    expect(bench.pick(BODY).destination.split(',').sort()).toEqual(['10.0.0.1:8000', '10.0.0.2:8000']);
  });
});
