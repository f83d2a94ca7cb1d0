import { describe, expect, it } from 'vitest';
import { LoadCounter } from './load-counter.ts';

describe('policies 2.5 counters', () => {
  it('counts requests, distinct keys and requests of a key', () => {
    const load = new LoadCounter();
    for (const key of ['a', 'a', 'b', null]) load.add(key);

    expect([load.requests, load.distinctKeys, load.ofKey('a'), load.ofKey('b'), load.ofKey('c')]).toEqual([
      4, 2, 2, 1, 0,
    ]);

    load.remove('a');
    load.remove('b');
    expect([load.requests, load.distinctKeys, load.ofKey('a'), load.ofKey('b')]).toEqual([2, 1, 1, 0]);
  });

  it('never falls below zero', () => {
    const load = new LoadCounter();

    load.remove('a');
    load.remove(null);

    expect([load.requests, load.distinctKeys, load.ofKey('a')]).toEqual([0, 0, 0]);
  });

  it('can only be written where a registry made it', () => {
    const foreign = { requests: 0, distinctKeys: 0, ownRequests: 0, ownDistinctKeys: 0, ofKey: () => 0 };

    expect(() => LoadCounter.of(foreign)).toThrow(TypeError);
  });
});
