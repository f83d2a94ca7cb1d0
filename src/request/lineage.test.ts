import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stripLineage } from './lineage.ts';

describe('sticky-sessions 2.2 lineage', () => {
  it.each([
    ['conv', 'conv'],
    ['conv_t1', 'conv'],
    ['conv_t12', 'conv'],
    ['conv_t02', 'conv'],
    ['conv_t2_r1', 'conv'],
    ['conv_r1', 'conv'],
    ['conv_t1_t2', 'conv_t1'],
    ['conv_r1_r2', 'conv_r1'],
    ['conv_r1_t2', 'conv_r1'],
    ['conv_t2_r1_r2', 'conv_t2_r1'],
    ['a_t1_r1_t2', 'a_t1_r1'],
    ['conv_t', 'conv_t'],
    ['conv_r', 'conv_r'],
    ['conv_tx1', 'conv_tx1'],
    ['conv_t1_r', 'conv_t1_r'],
    ['conv_T2', 'conv_T2'],
    ['conv-t2', 'conv-t2'],
    ['conv_turn2', 'conv_turn2'],
    ['conv_t-1', 'conv_t-1'],
    ['conv_t1.5', 'conv_t1.5'],
    ['conv_t１', 'conv_t１'],
    ['conv_t1_', 'conv_t1_'],
    ['under_scored_id', 'under_scored_id'],
    ['no-suffix', 'no-suffix'],
    ['t1', 't1'],
    ['conv__t1', 'conv_'],
    ['__t1', '_'],
    ['_t1', '_t1'],
    ['_r1', '_r1'],
    ['_t1_r1', '_t1_r1'],
    ['_r1_t1', '_r1'],
    ['conv_t1 ', 'conv_t1 '],
    ['', ''],
  ])('%j -> %j', (value, key) => {
    expect(stripLineage(value)).toBe(key);
  });

  const suffixed = fc
    .tuple(
      fc.string({ maxLength: 6 }),
      fc.array(fc.constantFrom('_t1', '_r22', '_t', '_r', '_', '_t0', 'x'), { maxLength: 5 }),
    )
    .map(([base, parts]) => base + parts.join(''));

  it('is what two anchored patterns do', () => {
    const model = (value: string): string => value.replace(/_r[0-9]+$/, '').replace(/_t[0-9]+$/, '') || value;

    fc.assert(
      fc.property(suffixed, (value) => {
        expect(stripLineage(value)).toBe(model(value));
      }),
      { numRuns: 1000 },
    );
  });

  it('gives every turn and retry of a conversation without a suffix of its own one key', () => {
    const base = fc.string({ minLength: 1 }).filter((text) => stripLineage(text) === text);

    fc.assert(
      fc.property(base, fc.nat(), fc.nat(), (id, turn, retry) => {
        expect(stripLineage(`${id}_t${turn}`)).toBe(id);
        expect(stripLineage(`${id}_t${turn}_r${retry}`)).toBe(id);
        expect(stripLineage(stripLineage(`${id}_t${turn}_r${retry}`))).toBe(id);
      }),
    );
  });

  it('answers with a non-empty beginning of a non-empty value', () => {
    fc.assert(
      fc.property(suffixed, (value) => {
        const key = stripLineage(value);
        expect(value.startsWith(key)).toBe(true);
        expect(key === '').toBe(value === '');
      }),
    );
  });
});
