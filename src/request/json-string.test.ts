import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeString } from './json-string.ts';

const decode = (raw: string | Buffer): string | null => {
  const bytes = Buffer.from(raw);
  return decodeString(bytes, 0, bytes.length);
};

describe('decodeString', () => {
  it.each([
    ['""', ''],
    ['"conv_t1 "', 'conv_t1 '],
    ['"clé"', 'clé'],
    ['"\\u0063\\u006Cé"', 'clé'],
    ['"\\"\\\\\\/\\b\\f\\n\\r\\t"', '"\\/\b\f\n\r\t'],
    ['"\\ud83d\\ude00"', '😀'],
    ['"😀"', '😀'],
    ['"\\u0000"', '\0'],
    ['"\ufeffa"', '\ufeffa'],
  ])('%s', (raw, text) => {
    expect(decode(raw)).toBe(text);
  });

  it.each<[string, string | Buffer]>([
    ['a raw control character', '"a\nb"'],
    ['a raw control character behind an escape', '"\\n\u0001"'],
    ['an unknown escape', '"\\x41"'],
    ['a short escape', '"\\u00e"'],
    ['a high surrogate alone', '"\\ud83d"'],
    ['a low surrogate alone', '"\\ude00"'],
    ['two low surrogates', '"\\ude00\\ude00"'],
    ['surrogates in the wrong order', '"\\ude00\\ud83d"'],
    ['a high surrogate before a letter', '"\\ud83da"'],
    ['invalid UTF-8', Buffer.from([0x22, 0xc3, 0x28, 0x22])],
    ['invalid UTF-8 behind an escape', Buffer.from([0x22, 0x5c, 0x6e, 0xff, 0x22])],
    ['a surrogate in UTF-8', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
  ])('refuses %s', (_title, raw) => {
    expect(decode(raw)).toBeNull();
  });

  it('reads its range only', () => {
    expect(decodeString(Buffer.from('x"ab"y'), 1, 5)).toBe('ab');
  });

  it('reads back what JSON.stringify and a full escaping write', () => {
    const escaped = (text: string): string =>
      `"${text
        .split('')
        .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
        .join('')}"`;

    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(decode(JSON.stringify(text))).toBe(text);
        expect(decode(escaped(text))).toBe(text);
      }),
    );
  });
});
