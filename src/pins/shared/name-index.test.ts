import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NameIndex } from './name-index.ts';

describe('NameIndex', () => {
  const step = fc.record({
    name: fc.constantFrom(...Array.from({ length: 40 }, (_, i) => `n${i}`)),
    add: fc.boolean(),
  });

  it('finds what was added and not removed, in any order', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
        const index = new NameIndex();
        const slots = new Map<string, number>();
        const names: (string | null)[] = [];
        for (const { name, add } of steps) {
          const slot = slots.get(name);
          if (add && slot === undefined) {
            const free = names.indexOf(null);
            const taken = free < 0 ? names.length : free;
            names[taken] = name;
            slots.set(name, taken);
            index.add(name, taken);
          } else if (!add && slot !== undefined) {
            index.remove(slot);
            names[slot] = null;
            slots.delete(name);
          }
        }
        for (let i = 0; i < 40; i++) {
          expect(index.find(`n${i}`, (slot) => names[slot] === `n${i}`)).toBe(slots.get(`n${i}`) ?? -1);
        }
      }),
    );
  });

  it('keeps many names apart, and forgets them', () => {
    const index = new NameIndex();
    const name = (i: number): string => `name-${i}`;
    for (let i = 0; i < 50_000; i++) index.add(name(i), i);
    for (let i = 0; i < 50_000; i += 2) index.remove(i);

    for (let i = 0; i < 50_000; i += 7) {
      expect(index.find(name(i), (slot) => slot === i)).toBe(i % 2 === 0 ? -1 : i);
    }
  });

  it('tells two names of one tag apart', () => {
    const index = new NameIndex();
    // 31 · 'A' + 'a' = 31 · 'B' + 'B': the two mix to the same number.
    index.add('Aa', 0);
    index.add('BB', 1);
    const names = ['Aa', 'BB'];

    expect(index.find('Aa', (slot) => names[slot] === 'Aa')).toBe(0);
    expect(index.find('BB', (slot) => names[slot] === 'BB')).toBe(1);
    index.remove(0);
    expect(index.find('Aa', (slot) => names[slot] === 'Aa')).toBe(-1);
    expect(index.find('BB', (slot) => names[slot] === 'BB')).toBe(1);
  });
});
