import { describe, expect, it } from 'vitest';
import { load } from '../../test/support/try-load.ts';
import { NEVER_OPENS } from '../workers/breaker.ts';
import { healthSettingsOf, loadOptionsOf, registryOptionsOf } from './settings-to-fleet.ts';

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
    expect(loadOptionsOf(load({ flags }).settings).overload).toEqual({ waitingRequests: waiting, tokenUsage: usage });
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
    const { breaker } = registryOptionsOf(load({ flags }).settings);

    expect([breaker?.failureThreshold, breaker?.successThreshold, breaker?.openMs]).toEqual(rules);
  });
});

describe('policies 7 the flags of the fleet', () => {
  const { settings } = load({
    flags: [
      '--drain-settle-secs 1 --drain-deadline-secs 2 --remove-unhealthy-workers --dp-aware',
      '--load-monitor-interval 3 --stale-report-intervals 4',
      '--health-check-endpoint /up --health-check-timeout-secs 5 --health-check-interval-secs 6',
      '--health-success-threshold 7 --health-failure-threshold 8 --disable-health-check',
    ].join(' '),
  });

  it('reach the registry', () => {
    expect(registryOptionsOf(settings)).toMatchObject({
      drainSettleMs: 1_000,
      drainDeadlineMs: 2_000,
      removeFailed: true,
      dpAware: true,
    });
  });

  it('reach the load monitor', () => {
    expect(loadOptionsOf(settings)).toMatchObject({ intervalMs: 3_000, staleIntervals: 4 });
  });

  it('reach the health checks', () => {
    expect(healthSettingsOf(settings)).toEqual({
      enabled: false,
      endpoint: '/up',
      timeoutSecs: 5,
      intervalSecs: 6,
      successThreshold: 7,
      failureThreshold: 8,
    });
  });
});
