import { describe, expect, it } from 'vitest';
import { makeWorker } from '../../test/support/fleet.ts';
import { peersOf } from './peers.ts';

const worker = (url: string, rank: number | null) => makeWorker(rank === null ? url : `${url}@${rank}`, { url, rank });

describe('workers of one data-parallel rank', () => {
  const [a0, a1, b0, whole] = [worker('a', 0), worker('a', 1), worker('b', 0), worker('c', null)] as const;
  const all = [a0, a1, b0, whole];

  it.each([
    [0, [a0, b0]],
    [1, [a1]],
    [2, []],
  ])('rank %i', (rank, peers) => {
    expect(peersOf(all, rank)).toEqual(peers);
  });

  it('are the same list each time, so that what policies keep by list stays', () => {
    expect(peersOf(all, 0)).toBe(peersOf(all, 0));
    expect(peersOf([...all], 0)).not.toBe(peersOf(all, 0));
  });
});
