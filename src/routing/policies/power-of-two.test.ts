import { describe, expect, it } from 'vitest';
import { scriptedRandom } from '../../../test/support/fleet.ts';
import { makeReporting, report } from '../../../test/support/load-report.ts';
import { makePlacement, policySuite } from './policy.suite.ts';
import { PowerOfTwoPolicy } from './power-of-two.ts';

policySuite('power_of_two', () => new PowerOfTwoPolicy());

describe('policies 1.4 power_of_two', () => {
  it('takes the better of the pair, spreads by credit, and begins anew with fresh reports', () => {
    const a = { waitingUncachedTokens: 1000, genThroughput: 100, tokenUsage: 0.2 };
    const b = { ...a, waitingUncachedTokens: 2000 };
    const members = [makeReporting('a', a), makeReporting('b', b)];
    const policy = new PowerOfTwoPolicy();
    const pick = () => policy.pick(makePlacement(members))?.id;
    expect([pick(), pick(), pick()]).toEqual(['a', 'b', 'a']);

    report(members[0]!, a);
    report(members[1]!, b);

    expect(pick()).toBe('a');
  });

  it('puts a worker without a report behind one of the same pair that has one', () => {
    const members = [makeReporting('a', { tokenUsage: 0.9 }), makeReporting('b', null, 5)];

    expect(new PowerOfTwoPolicy().pick(makePlacement(members))?.id).toBe('a');
  });

  it.each([
    { loads: [5, 3], draws: [0], picks: ['b'] },
    { loads: [4, 4], draws: [0, 0.9], picks: ['a', 'b'] },
  ])('goes by its own count when neither reported: $loads', ({ loads, draws, picks }) => {
    const members = loads.map((load, i) => makeReporting('ab'.charAt(i), null, load));
    // Two numbers draw the pair (a, b), the third breaks a tie.
    const pick = (tie: number) =>
      new PowerOfTwoPolicy().pick(makePlacement(members, {}, scriptedRandom(0, 0, tie)))?.id;

    expect(draws.map(pick)).toEqual(picks);
  });

  it('knows of no worker but the two', () => {
    const members = [
      makeReporting('best', {}),
      makeReporting('a', { waitingRequests: 3 }),
      makeReporting('b', { waitingRequests: 2 }),
    ];

    expect(new PowerOfTwoPolicy().pick(makePlacement(members, {}, scriptedRandom(0.34, 0)))?.id).toBe('b');
  });

  it('gives a single candidate no credit', () => {
    const [a, b] = [makeReporting('a', {}), makeReporting('b', { waitingUncachedTokens: 1 })];
    const policy = new PowerOfTwoPolicy();
    for (let i = 0; i < 3; i++) policy.pick(makePlacement([a!]));

    expect(policy.pick(makePlacement([a!, b!]))?.id).toBe('a');
  });

  it('draws every pair as often', () => {
    const members = ['0', '1', '2', '3'].map((id, load) => makeReporting(id, null, load));
    const policy = new PowerOfTwoPolicy();
    const counts = [0, 0, 0, 0];
    for (let x = 0; x < 4; x++) {
      for (let y = 0; y < 3; y++) {
        const draws = scriptedRandom((x + 0.5) / 4, (y + 0.5) / 3);
        const id = Number(policy.pick(makePlacement(members, {}, draws))?.id);
        counts[id] = counts[id]! + 1;
      }
    }

    // Of 12 ordered pairs worker 0 wins the 6 that it is in, worker 1 those with 2 and 3, and so on.
    expect(counts).toEqual([6, 4, 2, 0]);
  });

  it('draws another pair from the rest to go on', () => {
    const members = ['0', '1', '2', '3'].map((id, load) => makeReporting(id, null, load));
    const placement = makePlacement(members, {}, scriptedRandom(0, 0));
    const next = (...taken: readonly number[]) =>
      new PowerOfTwoPolicy().next(
        placement,
        taken.map((i) => members[i]!),
      )?.id;

    expect([next(0), next(2, 1), next(1), next(0, 1, 2), next(3, 1, 0, 2)]).toEqual(['1', '0', '0', '3', undefined]);
  });

  it('draws every pair of the rest as often', () => {
    const members = ['0', '1', '2', '3', '4'].map((id, load) => makeReporting(id, null, load));
    const taken = [members[2]!];
    const policy = new PowerOfTwoPolicy();
    let state = 1;
    const seeded = () => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return state / 2 ** 32;
    };
    const counts: Record<string, number> = {};
    for (let i = 0; i < 6000; i++) {
      const id = policy.next(makePlacement(members, {}, seeded), taken)?.id ?? 'nobody';
      counts[id] = (counts[id] ?? 0) + 1;
    }

    // Of six pairs of 0, 1, 3 and 4 the worker with the least in flight wins: 0 three, 1 two, 3 one.
    expect(Object.keys(counts).sort()).toEqual(['0', '1', '3']);
    expect(counts['0']! / 6000).toBeCloseTo(1 / 2, 1);
    expect(counts['1']! / 6000).toBeCloseTo(1 / 3, 1);
  });
});
