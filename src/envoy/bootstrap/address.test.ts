import { describe, expect, it } from 'vitest';
import { isDnsName, isLocal, parseAddress, parseTcpAddress, showAddress } from './address.ts';

describe('addresses', () => {
  it.each([
    ['127.0.0.1:9002', { kind: 'tcp', host: '127.0.0.1', port: 9002 }, false, true],
    ['127.1.2.3:9002', { kind: 'tcp', host: '127.1.2.3', port: 9002 }, false, true],
    ['10.0.0.1:9002', { kind: 'tcp', host: '10.0.0.1', port: 9002 }, false, false],
    ['[::1]:9002', { kind: 'tcp', host: '::1', port: 9002 }, false, true],
    ['[fd00::1]:9002', { kind: 'tcp', host: 'fd00::1', port: 9002 }, false, false],
    ['127.example:9002', { kind: 'tcp', host: '127.example', port: 9002 }, true, false],
    ['smg-envoy.default.svc:9002', { kind: 'tcp', host: 'smg-envoy.default.svc', port: 9002 }, true, false],
    ['unix:/run/smg.sock', { kind: 'unix', path: '/run/smg.sock' }, false, true],
  ])('%s', (text, address, dns, local) => {
    const parsed = parseAddress(text);
    expect(parsed).toEqual(address);
    expect(parsed && showAddress(parsed)).toBe(text);
    expect(parsed && isDnsName(parsed)).toBe(dns);
    expect(parsed && isLocal(parsed)).toBe(local);
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
