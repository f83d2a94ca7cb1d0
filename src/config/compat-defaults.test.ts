import { describe, expect, it } from 'vitest';
import { load, problemsOf } from '../../test/support/try-load.ts';

const OVERLOAD = ['workerOverloadProtection', 'workerOverloadWaitingRequests', 'workerOverloadTokenUsage'] as const;

describe('decisions 33 --smg-compat 1.13', () => {
  it.each([
    { flags: '', sources: ['rid', 'headers'], implicit: ['authorization', 'x-forwarded-for', 'cookie'] },
    {
      flags: '--smg-compat 1.11',
      sources: ['rid', 'headers'],
      implicit: ['authorization', 'x-forwarded-for', 'cookie'],
    },
    { flags: '--smg-compat 1.13', sources: ['headers', 'rid'], implicit: ['x-forwarded-for', 'cookie'] },
    {
      flags: '--smg-compat 1.13 --routing-key-order rid-first',
      sources: ['rid', 'headers'],
      implicit: ['x-forwarded-for', 'cookie'],
    },
    {
      flags: '--smg-compat 1.13 --routing-key-sources rid,headers --implicit-keys authorization',
      sources: ['rid', 'headers'],
      implicit: ['authorization'],
    },
    { flags: '--smg-compat 1.13 --implicit-keys none', sources: ['headers', 'rid'], implicit: [] },
  ])('"$flags" looks for keys in $sources, implicit $implicit', ({ flags, sources, implicit }) => {
    const { settings } = load({ flags });

    expect(settings.routingKeySources).toEqual(sources);
    expect(settings.implicitKeys).toEqual(implicit);
  });

  it.each([
    { flags: '', want: [false, null, null] },
    { flags: '--smg-compat 1.13', want: [true, 8, 0.8] },
    { flags: '--smg-compat 1.13 --worker-overload-waiting-requests 3', want: [true, 3, 0.8] },
    { flags: '--smg-compat 1.13 --worker-overload-token-usage 0.5', want: [true, 8, 0.5] },
    { flags: '--smg-compat 1.13 --worker-overload-protection', want: [true, 8, 0.8] },
    { flags: '--smg-compat 1.13 --worker-overload-protection false', want: [false, null, null] },
  ])('"$flags": overload protection $want', ({ flags, want }) => {
    const { settings } = load({ flags });

    expect(OVERLOAD.map((key) => settings[key])).toEqual(want);
  });

  it('holds wherever it is asked for, and below the defaults of a command', () => {
    expect(load({ file: 'smg_compat: 1.13' }).settings.workerOverloadProtection).toBe(true);
    expect(load({ env: { SMG_SMG_COMPAT: '1.13' } }).settings.workerOverloadProtection).toBe(true);
    expect(load({ flags: '--smg-compat 1.13', defaults: { implicitKeys: ['x-user'] } }).settings.implicitKeys).toEqual([
      'x-user',
    ]);
  });

  it('does not contradict itself where an order is given in the other way', () => {
    expect(problemsOf({ flags: '--smg-compat 1.13 --routing-key-sources headers' })).toEqual([]);
  });
});
