import { describe, expect, it } from 'vitest';
import { makePool, makeWorker } from '../../test/support/fleet.ts';
import { allOverloaded } from './all-overloaded.ts';

describe('policies 2.2 shed', () => {
  it.each([
    { members: [true, true], shed: true },
    { members: [true, false], shed: false },
    { members: [], shed: false },
  ])('workers overloaded $members: shed $shed', ({ members, shed }) => {
    const pool = makePool(members.map((overloaded, index) => makeWorker(`w${index}`, { overloaded })));

    expect(allOverloaded(pool)).toBe(shed);
  });
});
