import { describe, expect, it } from 'vitest';
import { makeWorker } from '../../../test/support/fleet.ts';
import type { Worker } from '../../workers/worker.ts';
import { makePlacement, policySuite } from './policy.suite.ts';
import { RoundRobinPolicy } from './round-robin.ts';

policySuite('round_robin', () => new RoundRobinPolicy());

const all = [0, 1, 2].map((i) => makeWorker(`w${i}`));
const without1 = all.map((worker) => (worker.id === 'w1' ? { ...worker, placeable: false } : worker));

function picks(policy: RoundRobinPolicy, members: readonly Worker[], count: number): string {
  return Array.from({ length: count }, () => policy.pick(makePlacement(members))?.id).join(' ');
}

describe('policies 1.2 round_robin', () => {
  it('goes round all of them', () => {
    expect(picks(new RoundRobinPolicy(), all, 5)).toBe('w0 w1 w2 w0 w1');
  });

  it('goes round those that are eligible', () => {
    expect(picks(new RoundRobinPolicy(), without1, 4)).toBe('w0 w2 w0 w2');
  });

  it('keeps one rotation for each candidate set: a worker is lost, and returns', () => {
    const policy = new RoundRobinPolicy();

    expect(picks(policy, all, 2)).toBe('w0 w1');
    expect(picks(policy, without1, 2)).toBe('w2 w0');
    expect(picks(policy, all, 2)).toBe('w2 w0');
  });

  it('starts the rotation of each further set one worker on, as observed of SMG 1.11', () => {
    const policy = new RoundRobinPolicy();
    const set = (...ids: number[]) => all.filter((_, i) => ids.includes(i));

    expect(picks(policy, set(0), 1)).toBe('w0');
    expect(picks(policy, set(0, 2), 1)).toBe('w2');
    expect(picks(policy, set(0, 1), 1)).toBe('w0');
    expect(picks(policy, set(1, 2), 1)).toBe('w2');
    expect(picks(policy, all, 3)).toBe('w1 w2 w0');
  });

  it('goes by ids, so that the rotation outlives a change of other facts', () => {
    const policy = new RoundRobinPolicy();
    picks(policy, all, 1);

    expect(
      picks(
        policy,
        all.map((worker) => ({ ...worker, address: 'elsewhere' })),
        1,
      ),
    ).toBe('w1');
  });

  it('does not move without candidates', () => {
    const policy = new RoundRobinPolicy();
    const nobody = makePlacement(all.map((worker) => ({ ...worker, placeable: false })));

    expect(policy.pick(nobody)).toBeNull();
    expect(picks(policy, all, 1)).toBe('w0');
  });

  it('forgets the set used least recently after 4096', () => {
    const policy = new RoundRobinPolicy();
    const sets = Array.from({ length: 4096 }, (_, i) => [makeWorker(`a${i}`), makeWorker(`b${i}`)]);
    for (const set of sets) policy.pick(makePlacement(set));
    policy.pick(makePlacement(sets[0]!));

    policy.pick(makePlacement([makeWorker('one'), makeWorker('more')]));

    expect(picks(policy, sets[0]!, 1)).toBe('a0');
    expect(picks(policy, sets[2]!, 1)).toBe('b2');
    expect(picks(policy, sets[1]!, 1)).toBe('a1');
  });

  it('names the next ones of the rotation', () => {
    const policy = new RoundRobinPolicy();
    const placement = makePlacement(all);
    const first = policy.pick(placement)!;
    const second = policy.next(placement, [first])!;

    expect([first.id, second.id, policy.next(placement, [first, second])?.id]).toEqual(['w0', 'w1', 'w2']);
  });
});
