import { describe, expect, it } from 'vitest';
import { PickerBench } from '../../test/support/picker-bench.ts';
import type { Decision } from '../routing/decision.ts';
import { hasKey, spellingsOf } from './decision-keys.ts';

function placed(bench: PickerBench): Decision {
  const outcome = bench.ring.at(bench.ring.next - 1)?.outcome;
  if (outcome?.kind !== 'placed') throw new Error('not placed');
  return outcome;
}

describe('sticky-sessions 2.2 the key of a decision', () => {
  it.each([
    ['as it was sent', { rid: 'talk-1_t3' }, {}, 'talk-1_t3', true],
    ['its conversation', { rid: 'talk-1_t3' }, {}, 'talk-1', true],
    ['another turn of it', { rid: 'talk-1_t3' }, {}, 'talk-1_t4', true],
    ['another key', { rid: 'talk-1_t3' }, {}, 'talk-2', false],
    ['a part of it', { rid: 'talk-1_t3' }, {}, 'talk', false],
    ['none', {}, {}, 'talk-1', false],
    ['of a header', null, { headers: [['x-smg-routing-key', 'h-1']] as const }, 'h-1', true],
  ])('%s', (_name, body, head, asked, found) => {
    const bench = new PickerBench().ready(1);
    bench.ring.wake();
    bench.pick(body, head);

    expect(hasKey(placed(bench), spellingsOf(asked))).toBe(found);
  });

  it('sticky-sessions P15 is found for every tenant', () => {
    const bench = new PickerBench({ routing: { tenantHeader: 'x-tenant' } }).ready(1);
    bench.ring.wake();
    bench.pick({ rid: 'talk-1' }, { headers: [['x-tenant', 'acme']] });

    expect(placed(bench).loadKey).toContain('acme');
    expect(hasKey(placed(bench), spellingsOf('talk-1'))).toBe(true);
    expect(hasKey(placed(bench), spellingsOf('acme'))).toBe(false);
  });
});
