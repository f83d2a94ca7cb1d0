import type { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { parsePinStoreUrl } from '../util/pin-store-url.ts';
import { ClientPlaces } from './client-places.ts';
import { StoreError } from './store-error.ts';
import { LoginReader } from './store-login.ts';

const UNREACHABLE = 'All sentinels are unreachable and retry is disabled. Last error:';
const WANTED = `${UNREACHABLE} NOAUTH Authentication required.`;
const NONE_SET = `${UNREACHABLE} ERR AUTH <password> called without any password configured for the default user.`;
const OLD_NONE_SET = `${UNREACHABLE} ERR Client sent AUTH, but no password is set`;
const WRONG = `${UNREACHABLE} WRONGPASS invalid username-password pair or user is disabled.`;
const NO_RIGHT = `${UNREACHABLE} NOPERM this user has no permissions to run the 'sentinel' command`;
const OF_SERVER = 'WRONGPASS invalid username-password pair or user is disabled.';

/** Whether Sentinels get the login after these failures, of commands and of the subscription. */
function loginAfter(...failures: readonly string[]): boolean {
  const parsed = parsePinStoreUrl('redis+sentinel://me:s3cret@127.0.0.1:1/main');
  if (!parsed.ok) throw new Error(parsed.problem);
  const logins = new LoginReader(parsed.address, { username: null, passwordFile: null, caPath: null });
  const places = new ClientPlaces(parsed.address, logins, 'test');
  for (const message of failures) places.failed(new StoreError('auth', message));
  const client = places.commands() as Redis;
  client.on('error', () => {});
  client.disconnect();
  return client.options.sentinelPassword === 's3cret';
}

describe('the login of Sentinels', () => {
  it.each([
    ['is not sent at first', [], false],
    ['is sent to those that want one', [WANTED], true],
    ['also when both connections were refused', [WANTED, WANTED], true],
    ['also to those whose default user may not ask', [NO_RIGHT], true],
    ['is left out where none is set', [WANTED, NONE_SET, NONE_SET], false],
    ['in the words of older ones, too', [WANTED, OLD_NONE_SET], false],
    ['is left out where it is not known', [WANTED, WRONG, WRONG], false],
    ['has nothing to do with the servers', [WANTED, OF_SERVER], true],
  ])('%s', (_, failures, sent) => {
    expect(loginAfter(...failures)).toBe(sent);
  });
});
