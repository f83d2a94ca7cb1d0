import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { AppError } from '../util/app-error.ts';
import { parsePinStoreUrl } from '../util/pin-store-url.ts';
import { LoginReader } from './store-login.ts';

const folder = mkdtempSync(join(tmpdir(), 'smg-envoy-store-login-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const NONE = { username: null, passwordFile: null, caPath: null };

function addressOf(url: string) {
  const result = parsePinStoreUrl(url);
  if (!result.ok) throw new Error(result.problem);
  return result.address;
}

describe('the login of the store', () => {
  it('is that of the URL', () => {
    const reader = new LoginReader(addressOf('redis://me:s3cret@h'), NONE);

    expect(reader.read()).toEqual({ username: 'me', password: 's3cret', ca: null });
  });

  it('is that of flag and file before that of the URL, as the file stands now', () => {
    const passwordFile = join(folder, 'password');
    writeFileSync(passwordFile, 'one\n');
    const reader = new LoginReader(addressOf('rediss://me:s3cret@h'), {
      username: 'you',
      passwordFile,
      caPath: passwordFile,
    });
    expect(reader.read()).toEqual({ username: 'you', password: 'one', ca: 'one\n' });

    writeFileSync(passwordFile, ' two words \r\n');
    expect(reader.read().password).toBe(' two words ');
  });

  it('stays while the file is away', () => {
    const passwordFile = join(folder, 'mounted');
    writeFileSync(passwordFile, 'one');
    const reader = new LoginReader(addressOf('redis://h'), { ...NONE, passwordFile });
    rmSync(passwordFile);

    expect(reader.read().password).toBe('one');
  });

  it.each([
    ['--pin-store-password-file', { ...NONE, passwordFile: join(folder, 'none') }],
    ['--pin-store-ca-path', { ...NONE, caPath: join(folder, 'none') }],
  ])('%s must be readable at the start', (flag, places) => {
    const read = (): unknown => new LoginReader(addressOf('rediss://h'), places);

    expect(read).toThrow(AppError);
    expect(read).toThrow(new RegExp(`^${flag} .*none: cannot be read: ENOENT`));
  });
});
