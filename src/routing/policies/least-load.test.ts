import { describe, expect, it } from 'vitest';
import { engineOf, makeReporting, report } from '../../../test/support/load-report.ts';
import { EXPECTED_WAIT_DEFAULTS } from '../policy-parameters.ts';
import { LeastLoadPolicy } from './least-load.ts';
import { makePlacement, policySuite } from './policy.suite.ts';

policySuite('least_load', () => new LeastLoadPolicy(EXPECTED_WAIT_DEFAULTS));

describe('policies 1.5 least_load', () => {
  it('goes by the operator’s parameters', () => {
    const members = [makeReporting('a', { tokenUsage: 0.5 }), makeReporting('b', { waitingRequests: 1 })];
    const pick = (kvPressureWeight: number) =>
      new LeastLoadPolicy({ ...EXPECTED_WAIT_DEFAULTS, kvPressureWeight }).pick(makePlacement(members))?.id;

    expect([pick(0.15), pick(2)]).toEqual(['a', 'b']);
  });

  it('credits the token ids that it is told of', () => {
    const members = [makeReporting('a', {}), makeReporting('b', { waitingUncachedTokens: 2048 })];
    const policy = new LeastLoadPolicy(EXPECTED_WAIT_DEFAULTS);
    const placement = makePlacement(members, { prompt: { tokens: new Uint32Array(2100) } });

    expect([policy.pick(placement)?.id, policy.pick(placement)?.id]).toEqual(['a', 'b']);
  });

  it('declines when all have reached their limit', () => {
    const members = [64, 50].map((waitingRequests, i) => makeReporting(`w${i}`, { waitingRequests }));

    expect(
      new LeastLoadPolicy({ ...EXPECTED_WAIT_DEFAULTS, maxWaitingRequests: 48 }).pick(makePlacement(members)),
    ).toBeNull();
  });

  it('goes on with a report after missed polls until it is stale (policies 9, 4)', () => {
    const members = [makeReporting('quiet', { waitingRequests: 9 }), makeReporting('busy', { waitingRequests: 5 }, 7)];
    const pick = () => new LeastLoadPolicy(EXPECTED_WAIT_DEFAULTS).pick(makePlacement(members, {}, () => 0.9))?.id;
    const quiet = engineOf(members[0]!);

    quiet.missed();
    report(members[1]!, { waitingRequests: 10 });
    expect(pick()).toBe('quiet');

    quiet.expired();
    expect(pick()).toBe('busy');
  });
});
