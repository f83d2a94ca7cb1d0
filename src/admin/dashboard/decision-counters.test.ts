import { expect, it } from 'vitest';
import { PickerBench } from '../../../test/support/picker-bench.ts';
import { decisionCounters } from './decision-counters.ts';

function valuesOf(bench: PickerBench): Record<string, number> {
  const read = decisionCounters(bench.metrics).map(({ name, read }) => [name, read()] as const);
  return Object.fromEntries(read.filter(([, value]) => value > 0));
}

it('counts every request once as a decision, and by its branch', () => {
  const bench = new PickerBench().ready(1, 2);
  for (const body of [{ rid: 'a_t1' }, { rid: 'a_t2' }, { rid: 'b_t1' }, null, null, null]) bench.pick(body);
  bench.refusal([]);

  expect(valuesOf(bench)).toEqual({ decisions: 7, vacant: 2, occupied_hit: 1, policy: 3, refused: 1 });
});

it('knows the branches of the hash ring, and passes', () => {
  const bench = new PickerBench({ policy: 'consistent_hashing' });
  expect(bench.ask(null)).toEqual({ kind: 'pass' });
  bench.ready(1, 2);
  bench.pick(null, { headers: [['x-smg-routing-key', 'k']] });
  bench.pick(null);

  expect(valuesOf(bench)).toEqual({ decisions: 3, routing_key_hit: 1, random_fallback: 1, passed: 1 });
});
