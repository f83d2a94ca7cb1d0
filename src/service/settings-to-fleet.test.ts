import { describe, expect, it } from 'vitest';
import { load } from '../../test/support/try-load.ts';
import { NEVER_OPENS } from '../workers/breaker.ts';
import { breakerRulesOf, overloadRuleOf } from './settings-to-fleet.ts';

describe('policies 2.2 what turns overload protection on', () => {
  it.each([
    { flags: '', waiting: null, usage: null },
    { flags: '--worker-overload-protection', waiting: null, usage: 0.9 },
    { flags: '--worker-overload-waiting-requests 5', waiting: 5, usage: null },
    { flags: '--worker-overload-token-usage 0.7', waiting: null, usage: 0.7 },
    { flags: '--worker-overload-protection --worker-overload-waiting-requests 5', waiting: 5, usage: 0.9 },
    { flags: '--worker-overload-protection --worker-overload-token-usage 0.7', waiting: null, usage: 0.7 },
    { flags: '--smg-compat 1.13', waiting: 8, usage: 0.8 },
    { flags: '--smg-compat 1.13 --worker-overload-protection false', waiting: null, usage: null },
  ])('"$flags": from $waiting waiting requests or usage $usage on', ({ flags, waiting, usage }) => {
    expect(overloadRuleOf(load({ flags }).settings)).toEqual({ waitingRequests: waiting, tokenUsage: usage });
  });
});

describe('policies 2.3 when a breaker opens', () => {
  it.each([
    { flags: '', rules: [10, 3, 60_000] },
    {
      flags: '--cb-failure-threshold 4 --cb-success-threshold 5 --cb-timeout-duration-secs 6',
      rules: [4, 5, 6_000],
    },
    { flags: '--cb-failure-threshold 4 --disable-circuit-breaker', rules: [NEVER_OPENS, 3, 60_000] },
  ])('"$flags": $rules', ({ flags, rules }) => {
    const { failureThreshold, successThreshold, openMs } = breakerRulesOf(load({ flags }).settings);

    expect([failureThreshold, successThreshold, openMs]).toEqual(rules);
  });
});
