import { describe, expect, it } from 'vitest';
import { Budget } from './budget.ts';

const RATE = { burst: 3, perSecond: 2 };

function taken(budget: Budget, now: number): number {
  let count = 0;
  while (budget.take(now)) count += 1;
  return count;
}

describe('a budget', () => {
  it.each([
    { after: 0, left: 0 },
    { after: 499, left: 0 },
    { after: 500, left: 1 },
    { after: 1000, left: 2 },
    { after: 60_000, left: 3 },
  ])('of 3 at once and 2 a second has $left again $after ms after it ran out', ({ after, left }) => {
    const budget = new Budget(RATE, 0);
    expect(taken(budget, 0)).toBe(3);

    expect(taken(budget, after)).toBe(left);
  });

  it('keeps the part of a token that has grown', () => {
    const budget = new Budget(RATE, 0);
    taken(budget, 0);

    expect([budget.take(300), budget.take(600)]).toEqual([false, true]);
  });
});
