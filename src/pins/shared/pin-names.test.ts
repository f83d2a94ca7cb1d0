import { createHash, createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PinNames } from './pin-names.ts';

const SECRET = Buffer.from('0123456789abcdef');

describe('names of pins in a shared store', () => {
  // Vectors made with `printf KEY | openssl dgst -sha256 [-hmac 0123456789abcdef] -binary | head -c 16 | base64`.
  it.each([
    [null, '', '47DEQpj8HBSa-_TImW-5JA'],
    [null, '5:llama:s:conv-1', 'k6vk9VqNZvSMhg_GpaDvbQ'],
    [null, 'manual:s:sé', 'dQw_g2s0tKG-hz6fWkVj1A'],
    [SECRET, '', 'SW3JP6LSbq5QDsC8N6EicA'],
    [SECRET, '5:llama:s:conv-1', 'uSfrxii4X42V6ITr9Tsjcg'],
    [SECRET, 'manual:s:sé', 'cv4cuBk_hB2ibTBP44gE7Q'],
  ])('secret %o, key %j', (secret, key, name) => {
    expect(new PinNames(secret).nameOf(key)).toBe(name);
  });

  it('are the first 16 bytes of the digest', () => {
    const plain = new PinNames(null);
    const hidden = new PinNames(SECRET);
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (key) => {
        const sha = createHash('sha256').update(key).digest().subarray(0, 16);
        const hmac = createHmac('sha256', SECRET).update(key).digest().subarray(0, 16);
        expect(plain.nameOf(key)).toBe(sha.toString('base64url'));
        expect(hidden.nameOf(key)).toBe(hmac.toString('base64url'));
      }),
    );
  });
});
