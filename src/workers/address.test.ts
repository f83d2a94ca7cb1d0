import { isIPv6 } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalAddress, isIpLiteral, splitAddress } from './address.ts';

describe('envoy 6.2 address form', () => {
  it.each([
    ['10.0.0.1', 8000, '10.0.0.1:8000'],
    ['::1', 8000, '[::1]:8000'],
    ['0:0:0:0:0:0:0:1', 8000, '[::1]:8000'],
    ['0:0:0:0:0:0:0:0', 80, '[::]:80'],
    ['2001:DB8:0:0:0:0:0:1', 80, '[2001:db8::1]:80'],
    ['2001:0db8:0000:0000:0001:0000:0000:0001', 80, '[2001:db8::1:0:0:1]:80'],
    ['2001:db8:0:1:1:1:1:1', 80, '[2001:db8:0:1:1:1:1:1]:80'],
    ['::ffff:10.0.0.1', 80, '[::ffff:10.0.0.1]:80'],
    ['::ffff:a00:1', 80, '[::ffff:10.0.0.1]:80'],
    ['::10.0.0.1', 80, '[::10.0.0.1]:80'],
    ['::1:0:1', 80, '[::1:0:1]:80'],
  ])('%s port %i is %s', (ip, port, expected) => {
    expect(canonicalAddress(ip, port)).toBe(expected);
  });

  it.each(['', 'localhost', 'fe80::1%eth0', '[::1]', '10.0.0.256', '1.2.3'])('%j is no address', (text) => {
    expect(canonicalAddress(text, 80)).toBe('');
    expect(isIpLiteral(text)).toBe(false);
  });

  it('is a fixed point, and splits into what it was made of', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), fc.integer({ min: 1, max: 65_535 }), (ip, port) => {
        const address = canonicalAddress(ip, port);
        const parts = splitAddress(address)!;

        expect(parts.port).toBe(port);
        expect(canonicalAddress(parts.ip, parts.port)).toBe(address);
        expect(address.startsWith('[')).toBe(isIPv6(ip));
      }),
    );
  });

  it('splits nothing from an empty address', () => {
    expect(splitAddress('')).toBeUndefined();
  });
});
