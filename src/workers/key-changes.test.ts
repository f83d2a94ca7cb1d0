import { describe, expect, it } from 'vitest';
import { KeyChanges } from './key-changes.ts';

const entries = (map: ReadonlyMap<string, number>): [string, number][] => [...map];

describe('changes of the counts of keys', () => {
  it('tells a rise when it has lasted from one telling to the next', () => {
    const keys = new KeyChanges();
    keys.added('k');
    keys.added('k');

    expect(entries(keys.takeRises())).toEqual([]);
    expect(keys.pending).toBe(true);
    expect(entries(keys.takeRises())).toEqual([['k', 2]]);
    expect(keys.pending).toBe(false);
  });

  it('never tells of what ended before it was told', () => {
    const keys = new KeyChanges();
    keys.added('young');
    keys.removed('young');
    keys.added('ripe');
    keys.takeRises();
    keys.removed('ripe');

    expect([entries(keys.takeFalls()), entries(keys.takeRises()), keys.pending]).toEqual([[], [], false]);
  });

  it('tells a fall of what was told at once, unless another request has taken its place', () => {
    const keys = new KeyChanges();
    for (const key of ['k', 'l']) keys.added(key);
    keys.takeRises();
    keys.takeRises();
    for (const key of ['k', 'l']) keys.removed(key);
    keys.added('l');

    expect(keys.pending).toBe(true);
    expect(entries(keys.takeFalls())).toEqual([['k', 1]]);
    expect([entries(keys.takeFalls()), keys.pending]).toEqual([[], false]);
  });
});
