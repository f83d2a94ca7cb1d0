import { z } from 'zod';
import { maskPinStoreUrl, parsePinStoreUrl } from '../../util/pin-store-url.ts';
import { available, type SettingType } from '../setting.ts';
import { int, optional, text } from '../setting-types.ts';
import { filePath } from '../text-types.ts';

const SHARED_URL = /^rediss?(\+(sentinel|cluster))?:/;

function pinStore(): SettingType<string> {
  const allowed = 'memory or a redis://, rediss://, redis+sentinel:// or redis+cluster:// URL';
  const schema = z.string().superRefine((value, context) => {
    if (value === 'memory') return;
    const result = parsePinStoreUrl(value);
    if (result.ok) return;
    context.addIssue({ code: 'custom', message: SHARED_URL.test(value) ? result.problem : `expected ${allowed}` });
  });
  return { ...text(allowed, () => true, 'memory|url'), schema };
}

/** Where several replicas keep what they must agree on (interface 3, decisions 6). */
export const SHARED_SETTINGS = {
  pinStore: available({
    type: pinStore(),
    default: 'memory',
    help: 'where pins are kept: in this process, or in a store that replicas share',
    group: 'Shared state',
    reload: 'restart',
    mask: maskPinStoreUrl,
  }),
  pinStoreUsername: available({
    type: optional(text('a user name', (value) => value !== '', 'user')),
    default: null,
    help: 'user of the store; beats that of the URL',
    group: 'Shared state',
    reload: 'restart',
  }),
  pinStorePasswordFile: available({
    type: optional(filePath()),
    default: null,
    help: 'file with the password of the store, read again for each connection; beats that of the URL',
    group: 'Shared state',
    reload: 'restart',
  }),
  pinStoreCaPath: available({
    type: optional(filePath()),
    default: null,
    help: 'file with the certificates that the store is trusted by, read again for each connection; unset: those of Node',
    group: 'Shared state',
    reload: 'restart',
  }),
  pinStorePrefix: available({
    type: text(
      'up to 64 characters of A-Z a-z 0-9 . _ : -',
      (value) => /^[A-Za-z0-9._:-]{1,64}$/.test(value),
      'prefix',
    ),
    default: 'smg-envoy',
    help: 'what keys and channels in the store begin with; the same for all replicas of one deployment',
    group: 'Shared state',
    reload: 'restart',
  }),
  pinKeyHmacFile: available({
    type: optional(filePath()),
    default: null,
    help: 'file with a secret of at least 16 bytes that hides keys in the store; the same for all replicas',
    group: 'Shared state',
    reload: 'restart',
  }),
  pinClaimTimeoutMs: available({
    type: int({ max: 60_000, unit: 'ms' }),
    default: 50,
    help: 'longest wait of a request for the store on a new key, in milliseconds, 200 at most; 0: never, and replicas may place a new key apart',
    group: 'Shared state',
    reload: 'live',
  }),
} as const;
