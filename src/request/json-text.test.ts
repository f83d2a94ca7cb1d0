import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeText } from './json-text.ts';

const whole = (raw: string | Buffer): string => {
  const bytes = Buffer.from(raw);
  return decodeText(Buffer.concat([Buffer.from('x'), bytes, Buffer.from('y')]), 1, 1 + bytes.length);
};
const cut = (raw: string | Buffer): string => decodeText(Buffer.from(raw), 0, -1);

const LONG = 'x'.repeat(200);

describe('decodeText of a whole string', () => {
  it.each<[string, string]>([
    ['""', ''],
    ['"a b"', 'a b'],
    [`"${LONG}"`, LONG],
    ['"é 😀"', 'é 😀'],
    [`"${LONG}é"`, `${LONG}é`],
    ['"\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e9\\ud83d\\ude00"', '"\\/\b\f\n\r\tAé😀'],
    [`"${LONG}\\n${LONG}"`, `${LONG}\n${LONG}`],
    ['"é\\n"', 'é\n'],
  ])('%s', (raw, text) => {
    expect(whole(raw)).toBe(text);
  });

  it.each<[string, string | Buffer, string]>([
    ['half a pair', '"a\\ud83db"', 'a\ufffdb'],
    ['the other half', '"a\\ude00b"', 'a\ufffdb'],
    ['invalid UTF-8', Buffer.from([0x22, 0x61, 0xff, 0x62, 0x22]), 'a\ufffdb'],
    ['a wrong escape', '"a\\x62"', ''],
    ['an escape that ends early', '"a\\u12"', ''],
  ])('%s', (_title, raw, text) => {
    expect(whole(raw)).toBe(text);
  });
});

describe('decodeText of a string that the end of the bytes cuts', () => {
  it.each<[string, string]>([
    ['"', ''],
    ['"ab', 'ab'],
    ['"ab\\', 'ab'],
    ['"ab\\n', 'ab\n'],
    ['"ab\\u', 'ab'],
    ['"ab\\u00e', 'ab'],
    ['"ab\\u00e9', 'abé'],
    ['"ab\\ud83d', 'ab'],
    ['"ab\\uD83D\\ude0', 'ab'],
    ['"ab\\ud83d\\ude00', 'ab😀'],
    ['"ab\\ud800\\ud83d\\', 'ab\ufffd'],
    ['"ab\\ud800\\ud83d', 'ab\ufffd'],
    ['"ab\\\\', 'ab\\'],
    [`"${LONG}\\`, LONG],
  ])('%s', (raw, text) => {
    expect(cut(raw)).toBe(text);
  });

  it.each(['é', '日', '😀'])('leaves out %s unless it is whole', (character) => {
    const bytes = Buffer.from(`"a${character}`);

    for (let length = 2; length < bytes.length; length++) expect(cut(bytes.subarray(0, length))).toBe('a');
    expect(cut(bytes)).toBe(`a${character}`);
  });
});

describe('decodeText against JSON.parse', () => {
  const text = fc.string({
    unit: fc.oneof(fc.constantFrom('"', '\\', '\n', 'é', '😀', '\ud800'), fc.string({ unit: 'binary', maxLength: 1 })),
    maxLength: 150,
  });
  const escaped = (value: string): string =>
    `"${value
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join('')}"`;

  it('reads back what was written, with U+FFFD for halves of pairs', () => {
    fc.assert(
      fc.property(text, (value) => {
        expect(whole(JSON.stringify(value))).toBe(value.toWellFormed());
        expect(whole(escaped(value))).toBe(value.toWellFormed());
      }),
      { numRuns: 500 },
    );
  });

  it('of any cut, gives a beginning', () => {
    fc.assert(
      fc.property(text, fc.boolean(), fc.nat(), (value, asEscapes, at) => {
        const bytes = Buffer.from(asEscapes ? escaped(value) : JSON.stringify(value));
        const length = 1 + (at % (bytes.length - 1));
        expect(value.toWellFormed().startsWith(cut(bytes.subarray(0, length)))).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  it('gives well-formed text for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 90 }), (raw) => {
        const bytes = Buffer.from(raw);
        expect(whole(Buffer.concat([Buffer.from('"'), bytes, Buffer.from('"')])).isWellFormed()).toBe(true);
        expect(cut(Buffer.concat([Buffer.from('"'), bytes])).isWellFormed()).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });
});
