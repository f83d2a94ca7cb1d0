import { describe, expect, it } from 'vitest';
import { StoreError, storeErrorOf } from './store-error.ts';

function coded(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

describe('what errors of the store mean', () => {
  it.each([
    ['auth', new Error('NOAUTH Authentication required.')],
    ['auth', new Error('WRONGPASS invalid username-password pair or user is disabled.')],
    ['auth', new Error("NOPERM User me has no permissions to run the 'evalsha' command")],
    ['auth', new Error("ERR The user executing the script can't run this command script: 0a, on @user_script:1.")],
    ['auth', new Error('ERR invalid password')],
    [
      'auth',
      new Error('All sentinels are unreachable and retry is disabled. Last error: NOAUTH Authentication required.'),
    ],
    ['readonly', new Error("READONLY You can't write against a read only replica.")],
    ['readonly', new Error('NOREPLICAS Not enough good replicas to write.')],
    ['readonly', new Error('MISCONF Redis is configured to save RDB snapshots, but it is unable to persist to disk.')],
    ['full', new Error("OOM command not allowed when used memory > 'maxmemory'.")],
    ['full', new Error('ERR Error running script (call to f_1): @user_script:3: -OOM command not allowed')],
    ['cluster', new Error('CLUSTERDOWN The cluster is down')],
    ['cluster', new Error('Too many Cluster redirections. Last error: ReplyError: MOVED 1 h:1')],
    ['cluster', new Error('Failed to refresh slots cache.')],
    ['loading', new Error('LOADING Redis is loading the dataset in memory')],
    ['script', new Error('BUSY Redis is busy running a script.')],
    ['script', new Error('ERR Error running script (call to f_1): @user_script:3: nil')],
    ['script', new Error("ERR unknown command 'evalsha', with args beginning with: '0a' '1' 'k' ")],
    ['script', new Error('ERR unknown command `EVAL`, with args beginning with: ')],
    ['timeout', coded('ETIMEDOUT', 'connect ETIMEDOUT')],
    ['timeout', new Error("Socket timeout. Expecting data, but didn't receive any in 3000ms.")],
    ['connection', coded('ECONNREFUSED', 'connect ECONNREFUSED 127.0.0.1:6379')],
    ['connection', coded('ENOTFOUND', 'getaddrinfo ENOTFOUND h')],
    ['connection', new Error('Connection is closed.')],
    ['connection', new Error("Stream isn't writeable and enableOfflineQueue options is false")],
    ['connection', new Error('Reached the max retries per request limit (which is 0).')],
    ['tls', coded('DEPTH_ZERO_SELF_SIGNED_CERT', 'self-signed certificate')],
    ['tls', coded('ERR_TLS_CERT_ALTNAME_INVALID', "Hostname/IP does not match certificate's altnames")],
    ['tls', coded('UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'unable to verify the first certificate')],
    ['other', new Error('WRONGTYPE Operation against a key holding the wrong kind of value')],
    ['other', 'something'],
  ] as const)('%s: %s', (reason, cause) => {
    expect(storeErrorOf(cause).reason).toBe(reason);
  });

  it('an error without a message tells its code', () => {
    expect(storeErrorOf(coded('ECONNREFUSED', ''))).toMatchObject({ reason: 'connection', message: 'ECONNREFUSED' });
  });

  it('tells one line, and no login', () => {
    expect(storeErrorOf(new Error('bad redis://me:s3cret@h:1\nat redis://me:s3cret@h')).message).toBe(
      'bad redis://***@h:1',
    );
  });

  it('tells no arguments of a command that the server does not know', () => {
    const refused = "ERR unknown command 'AUTH', with args beginning with: 'user' 'pässword' ";
    expect(storeErrorOf(new Error(refused)).message).toBe("ERR unknown command 'AUTH'");
  });

  it('is itself where it is known', () => {
    const error = new StoreError('full', 'full');

    expect(storeErrorOf(error)).toBe(error);
  });
});
