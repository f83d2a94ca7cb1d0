import { describe, expect, it } from 'vitest';
import { isDnsName, parseAddress, parseTcpAddress, showAddress } from './address.ts';

describe('addresses', () => {
  it.each([
    ['127.0.0.1:9002', { kind: 'tcp', host: '127.0.0.1', port: 9002 }, false],
    ['[::1]:9002', { kind: 'tcp', host: '::1', port: 9002 }, false],
    ['smg-envoy.default.svc:9002', { kind: 'tcp', host: 'smg-envoy.default.svc', port: 9002 }, true],
    ['unix:/run/smg.sock', { kind: 'unix', path: '/run/smg.sock' }, false],
  ])('%s', (text, address, dns) => {
    const parsed = parseAddress(text);
    expect(parsed).toEqual(address);
    expect(parsed && showAddress(parsed)).toBe(text);
    expect(parsed && isDnsName(parsed)).toBe(dns);
  });

  it.each([
    '',
    '9002',
    ':9002',
    'host',
    'host:',
    'host:0',
    'host:65536',
    '::1:9002',
    '[::1]',
    '[x]:1',
    'a b:1',
    'unix:',
  ])('refuses %j', (text) => expect(parseAddress(text)).toBeUndefined());

  it('a listener address is never a socket path', () => expect(parseTcpAddress('unix:/x')).toBeUndefined());
});
