import { describe, expect, it } from 'vitest';
import { LoadKeyHash, PUBLIC_HASH } from './load-key-hash.ts';

const SECRET = Buffer.from('0123456789abcdef');

describe('the hash of a load key', () => {
  it.each([
    [null, [-1628558447, 264210932, 139859501, 1082559774, -1482602448]],
    [SECRET, [-1500268311, 209135730, 1920068527, -2066583101, 712147631]],
  ])(
    'with secret %o is a signed integer of 32 bits, the same in every release that talks to another',
    (secret, expected) => {
      const hash = new LoadKeyHash(secret);
      expect(['', 'k', 'kl', '7:unknown:s:conv', 'é\u{1f600}'].map((key) => hash.of(key))).toEqual(expected);
    },
  );

  it.each([null, SECRET])('with secret %o tells the keys of a busy fleet apart', (secret) => {
    const hash = new LoadKeyHash(secret);
    const keys = Array.from({ length: 100_000 }, (_, i) => `7:unknown:s:user-${i % 317}-${i}`);

    // 1.2 are to be expected by chance.
    expect(keys.length - new Set(keys.map((key) => hash.of(key))).size).toBeLessThan(8);
  });

  it.each(['@8:attacker:_brBUo', '@8:attacker:RcknYy', '@8:attacker:ec7Yi5'])(
    'sticky-sessions P15: with a secret, %s is no stand-in for the key of another tenant that it was made for',
    (made) => {
      const victim = '@7:victims:conv-1';
      expect(PUBLIC_HASH.of(made)).toBe(PUBLIC_HASH.of(victim));

      const hash = new LoadKeyHash(SECRET);
      expect(hash.of(made)).not.toBe(hash.of(victim));
    },
  );
});
