import { describe, expect, it } from 'vitest';
import { makePool, makeWorker } from '../../test/support/fleet.ts';
import { RingCache } from './ring-cache.ts';

describe('RingCache', () => {
  const a = makeWorker('http://a:80');
  const b = makeWorker('http://b:80');
  const down = { ...b, placeable: false };

  it('keeps the ring while the membership is the same, whatever the health', () => {
    const rings = new RingCache();
    const before = makePool([a, b]);
    const after = makePool([a, down], 'unknown', before.memberIds);

    expect(rings.ringOf(after)).toBe(rings.ringOf(before));
    expect(rings.ringOf(after).ids).toEqual(['http://a:80', 'http://b:80']);
  });

  it('makes another ring for another membership', () => {
    const rings = new RingCache();

    expect(rings.ringOf(makePool([a])).ids).toEqual(['http://a:80']);
    expect(rings.ringOf(makePool([a, b])).ids).toEqual(['http://a:80', 'http://b:80']);
  });

  it('lines candidates up with the members of the ring at hand', () => {
    const rings = new RingCache();
    const pool = makePool([a, down]);
    const candidates = pool.available;

    expect(rings.eligibleOn(rings.ringOf(pool), candidates)).toEqual([a, undefined]);
    expect(rings.eligibleOn(rings.ringOf(makePool([b, a])), candidates)).toEqual([undefined, a]);
  });
});
