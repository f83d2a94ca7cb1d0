import { describe, expect, it } from 'vitest';
import { ConcurrencyGate } from './concurrency-gate.ts';

describe('ConcurrencyGate', () => {
  it('runs no more than its bound at once, and all in order, also past failures', async () => {
    const gate = new ConcurrencyGate(2);
    const started: number[] = [];
    let running = 0;
    let most = 0;
    const task = (id: number) => async () => {
      started.push(id);
      running += 1;
      most = Math.max(most, running);
      await Promise.resolve();
      running -= 1;
      if (id === 1) throw new Error('one');
      return id;
    };

    const results = await Promise.allSettled([0, 1, 2, 3, 4].map((id) => gate.run(task(id))));

    expect(results.map((result) => result.status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
      'fulfilled',
    ]);
    expect([most, started, running]).toEqual([2, [0, 1, 2, 3, 4], 0]);
  });
});
