import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeRequest, type RequestParts, SMG_KEYS } from '../../test/support/routing.ts';
import { xxh3 } from '../util/xxh3.ts';
import { PREFIX_HASH_DEFAULTS, type PrefixHashParameters } from './policy-parameters.ts';
import { prefixKey } from './prefix-key.ts';

const OFF = { ...SMG_KEYS, override: false };

function keysOf(parts: RequestParts, parameters: Partial<PrefixHashParameters> = {}, rules = OFF): string[] {
  const keys: string[] = [];
  for (let level = 0; ; level++) {
    const key = prefixKey(makeRequest(parts), level, rules, { ...PREFIX_HASH_DEFAULTS, ...parameters });
    if (key === null) return keys;
    keys.push(key);
  }
}

const ids = (count: number) => Uint32Array.from({ length: count }, (_, i) => i);
const idKey = (count: number) => xxh3(new Uint8Array(ids(count).buffer));
const textKey = (text: string) => xxh3(Buffer.from(text));

describe('policies 1.8 golden vectors of prefix_hash', () => {
  it.each([
    { what: 'tokens 0…255', parts: { prompt: { tokens: ids(256) } }, key: 'd12ba3ba3964c7ed' },
    { what: 'text', parts: { prompt: { text: 'Hello, world!' } }, key: 'f3c34bf11915e869' },
    { what: 'routing key', parts: { key: 'user-1' }, key: '7c7615c11438e5c9' },
  ])('$what: $key', ({ parts, key }) => {
    expect(keysOf(parts)).toEqual([key]);
  });
});

describe('policies 1.7 key material', () => {
  const both = { tokens: ids(3), text: null };

  it.each([
    { what: 'a routing key before tokens', parts: { key: 'k', prompt: both }, want: textKey('k') },
    { what: 'a header of the list', parts: { headers: [['x-foo', 'f']] }, want: textKey('f') },
    { what: 'a key that is too long as none', parts: { key: 'k'.repeat(129), prompt: both }, want: idKey(3) },
    { what: 'UTF-8 of a key', parts: { key: 'clé' }, want: textKey('clé') },
    { what: 'the prefix depth of tokens', parts: { prompt: { tokens: ids(300) } }, want: idKey(256) },
    {
      what: 'four characters for each token of it',
      parts: { prompt: { text: 'a'.repeat(2000) } },
      want: textKey('a'.repeat(1024)),
    },
  ] satisfies { what: string; parts: RequestParts; want: string }[])('takes $what', ({ parts, want }) => {
    expect(keysOf(parts, {}, { ...OFF, headers: ['x-smg-routing-key', 'x-foo'] })).toEqual([want]);
  });

  it('strips no routing key, whether the override is on or off', () => {
    for (const rules of [OFF, SMG_KEYS]) expect(keysOf({ key: 'conv_t1' }, {}, rules)).toEqual([textKey('conv_t1')]);
  });

  it('takes no rid', () => {
    expect(keysOf({ rid: 'conv' }, {}, SMG_KEYS)).toEqual([]);
  });

  it('has none without key, tokens and text', () => {
    expect(keysOf({})).toEqual([]);
    expect(keysOf({ prompt: { text: '' } })).toEqual([]);
  });

  it.each([
    { length: 70, levels: [64, 16] },
    { length: 64, levels: [64, 16] },
    { length: 63, levels: [16] },
    { length: 15, levels: [15] },
  ])('with boundaries 16 and 64, $length tokens have the levels $levels', ({ length, levels }) => {
    expect(keysOf({ prompt: { tokens: ids(length) } }, { cacheBoundaries: [16, 64] })).toEqual(levels.map(idKey));
  });

  it.each([
    { length: 300, levels: [256, 64] },
    { length: 256, levels: [256, 64] },
    { length: 255, levels: [64] },
    { length: 63, levels: [63] },
  ])('with boundaries 16 and 64, $length characters have levels of $levels', ({ length, levels }) => {
    const text = 'x'.repeat(length);

    expect(keysOf({ prompt: { text } }, { cacheBoundaries: [16, 64] })).toEqual(
      levels.map((chars) => textKey(text.slice(0, chars))),
    );
  });

  it('counts characters, not UTF-16 units or bytes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 80 }), fc.integer({ min: 1, max: 12 }), (text, depth) => {
        fc.pre(text !== '');
        const chars = [...text];
        const cut = textKey(chars.slice(0, depth * 4).join(''));

        expect(keysOf({ prompt: { text } }, { prefixTokenCount: depth })).toEqual([cut]);
        expect(keysOf({ prompt: { text } }, { cacheBoundaries: [depth] })).toEqual([
          chars.length >= depth * 4 ? cut : textKey(text),
        ]);
      }),
    );
  });
});
