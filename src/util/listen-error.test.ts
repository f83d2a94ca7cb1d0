import { expect, it } from 'vitest';
import { listenError } from './listen-error.ts';

it.each([
  ['EADDRINUSE', 'address_in_use', 'cannot listen on here port 1: address already in use'],
  ['EADDRNOTAVAIL', 'address_unusable', 'cannot listen on here port 1: bind EADDRNOTAVAIL'],
  ['EACCES', 'address_unusable', 'cannot listen on here port 1: bind EACCES'],
])('%s is %s, named with the place', (code, expected, message) => {
  const error = listenError('here port 1', Object.assign(new Error(`bind ${code}`), { code }));

  expect(error).toMatchObject({ code: expected, message, exitCode: 1 });
});
