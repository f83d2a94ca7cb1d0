import { describe, expect, it } from 'vitest';
import { makeSnapshot, makeWorker } from '../../test/support/fleet.ts';
import { load } from '../../test/support/try-load.ts';
import { FleetPolicies } from './fleet-policies.ts';

const settingsOf = (flags: string) => load({ flags }).settings;
const made = (flags: string) => new FleetPolicies(settingsOf(flags), () => {});
const PD = '--pd-disaggregation';

describe('policies 4.1 policies of the legs', () => {
  it.each([
    [`${PD} --policy round_robin`, 'round_robin', 'round_robin'],
    [`${PD} --policy random --prefill-policy cache_aware`, 'cache_aware', 'random'],
    [`${PD} --policy random --decode-policy least_load`, 'random', 'least_load'],
    [`${PD} --prefill-policy bucket --decode-policy manual`, 'bucket', 'manual'],
  ])('%s: %s and %s', (flags, prefill, decode) => {
    const { legs } = made(flags);
    expect([legs?.prefill.standard.name, legs?.decode.standard.name]).toEqual([prefill, decode]);
    expect(legs?.prefill.standard).not.toBe(legs?.decode.standard);
  });

  it('there are none where requests are not split', () => {
    expect(made('--prefill-policy cache_aware').legs).toBeNull();
  });

  it('have the operator’s values, and labels of workers have no say', () => {
    const policies = made(`${PD} --policy round_robin`);
    const labels = { policy: 'random' };
    const types = ['prefill', 'decode', 'regular'] as const;
    policies.follow(
      makeSnapshot(
        types.map((type) => makeWorker(type, { type, labels, models: ['m'] })),
        1,
        true,
      ),
    );
    expect(policies.legs?.prefill.single).toBe(true);
    expect(policies.legs?.decode.single).toBe(true);
    expect(policies.whole.single).toBe(false);
  });

  it.each([
    ['--policy cache_aware --prefill-policy random --decode-policy random', false],
    ['--policy random --decode-policy least_load', true],
  ])('load reports are asked for where a leg looks at them: %s', (flags, needed) => {
    expect(made(`${PD} ${flags}`).needsLoads).toBe(needed);
  });

  it('a reload keeps what did not change', () => {
    const policies = made(`${PD} --policy round_robin --decode-policy cache_aware`);
    const { prefill, decode } = policies.legs!;
    const before = decode.standard;
    policies.configure(settingsOf(`${PD} --policy random --decode-policy cache_aware`));
    expect(prefill.standard.name).toBe('random');
    expect(decode.standard).toBe(before);
    expect(policies.all).toContain(before);
  });
});
