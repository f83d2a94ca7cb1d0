import { describe, expect, it } from 'vitest';
import { load, problemsOf } from '../../test/support/try-load.ts';
import { publicSettings } from './public-settings.ts';

describe('interface 3 settings of the shared store', () => {
  it.each([
    ['--pin-store-username me', '--pin-store-username needs --pin-store redis://…'],
    ['--pin-store-password-file f', '--pin-store-password-file needs --pin-store redis://…'],
    ['--pin-store-ca-path f', '--pin-store-ca-path needs --pin-store redis://…'],
    ['--pin-store-prefix p', '--pin-store-prefix needs --pin-store redis://…'],
    ['--pin-key-hmac-file f', '--pin-key-hmac-file needs --pin-store redis://…'],
    ['--pin-store redis://h --pin-store-ca-path f', '--pin-store-ca-path: needs a --pin-store with TLS, rediss://…'],
    [
      '--pin-store redis+cluster://h --pin-store-ca-path f',
      '--pin-store-ca-path: needs a --pin-store with TLS, rediss://…',
    ],
    [
      '--pin-store redis+sentinel://h',
      '--pin-store redis+sentinel://***: the name of the master is missing: redis+sentinel://host1,host2/NAME',
    ],
    [
      '--pin-store disk',
      '--pin-store disk: expected memory or a redis://, rediss://, redis+sentinel:// or redis+cluster:// URL',
    ],
  ])('%s is refused', (flags, problem) => {
    expect(problemsOf({ flags })).toEqual([problem]);
  });

  it.each([
    '--pin-store rediss://h --pin-store-ca-path f',
    '--pin-store rediss+sentinel://h/m --pin-store-ca-path f --pin-store-username me --pin-store-password-file f',
    '--pin-store-prefix smg-envoy --pin-claim-timeout-ms 5',
  ])('%s is accepted', (flags) => {
    expect(problemsOf({ flags })).toEqual([]);
  });

  it('shows neither user nor password', () => {
    const { settings } = load({ flags: '--pin-store redis://me:s3cret@h:1/2' });

    expect(publicSettings(settings)['pin_store']).toBe('redis://***@h:1/2');
  });
});
