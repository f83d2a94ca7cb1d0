import { describe, expect, it } from 'vitest';
import { afterServed, behind, front } from './candidates.ts';

describe('sticky-sessions 3.6 writing a candidate', () => {
  it.each([
    { before: [], id: 'n', front: ['n'], behind: ['n'] },
    { before: ['a'], id: 'n', front: ['n', 'a'], behind: ['a', 'n'] },
    { before: ['a', 'b'], id: 'n', front: ['n', 'a'], behind: ['b', 'n'] },
  ])('$before with $id: front $front, behind $behind', (row) => {
    expect(front(row.before, row.id)).toEqual(row.front);
    expect(behind(row.before, row.id)).toEqual(row.behind);
  });

  it.each([
    { before: ['a', 'n'], after: ['n', 'a'] },
    { before: ['n', 'a'], after: ['n', 'a'] },
    { before: ['n'], after: ['n'] },
  ])('front of $before moves n that is there already: $after', ({ before, after }) => {
    expect(front(before, 'n')).toEqual(after);
  });
});

describe('sticky-sessions 11.4 the pin follows the worker that served', () => {
  it.each([
    { before: ['a'], served: 'b', front: ['b', 'a'], behind: ['a', 'b'] },
    { before: ['a', 'b'], served: 'b', front: ['b', 'a'], behind: null },
    { before: ['a', 'b'], served: 'a', front: null, behind: null },
    { before: ['a', 'b'], served: 'c', front: ['c', 'a'], behind: ['b', 'c'] },
  ])('$before served by $served: front $front, behind $behind', (row) => {
    expect(afterServed(row.before, row.served, 'front')).toEqual(row.front);
    expect(afterServed(row.before, row.served, 'behind')).toEqual(row.behind);
  });
});
