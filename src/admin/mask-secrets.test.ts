import { expect, it } from 'vitest';
import { maskSecrets } from './mask-secrets.ts';

it.each([
  ['redis://u:p@h:1/0', 'redis://***@h:1/0'],
  ['rediss://:p@ss@h', 'rediss://***@h'],
  ['redis+sentinel://u:p@h1,h2/m', 'redis+sentinel://***@h1,h2/m'],
  ['http://h/a@b', 'http://h/a@b'],
  ['user@host', 'user@host'],
  [7, 7],
  [null, null],
  [true, true],
  [['redis://u:p@h'], ['redis://***@h']],
  [
    { id: 'ops', role: 'admin', key: 's' },
    { id: 'ops', role: 'admin', key: '***' },
  ],
  [
    { workers: [{ url: 'http://a:1', api_key: 's', apiKey: null }] },
    { workers: [{ url: 'http://a:1', api_key: '***', apiKey: null }] },
  ],
  [new Map([['token', 's']]), { token: '***' }],
])('%j is shown as %j', (value, shown) => {
  expect(maskSecrets(value)).toEqual(shown);
});
