import { describe, expect, it } from 'vitest';
import { BlockReader } from './block-reader.ts';
import { integerBytes } from './encoder.suite.ts';

function readerOf(hex: string): BlockReader {
  const bytes = Buffer.from(hex.replaceAll(' ', ''), 'hex');
  const reader = new BlockReader();
  reader.begin(bytes, 0, bytes.length);
  return reader;
}

describe('RFC 7541 5.1 and C.1 integers', () => {
  it.each([
    { what: 'C.1.1 10 behind 5 bits', bytes: '0a', prefixBits: 5, value: 10 },
    { what: 'C.1.2 1337 behind 5 bits', bytes: '1f 9a 0a', prefixBits: 5, value: 1337 },
    { what: 'C.1.3 42 at the start of a byte', bytes: '2a', prefixBits: 8, value: 42 },
    { what: '10 with other bits before it', bytes: 'ea', prefixBits: 5, value: 10 },
    { what: 'the largest of a prefix', bytes: '1e', prefixBits: 5, value: 30 },
    { what: 'one more', bytes: '1f 00', prefixBits: 5, value: 31 },
    { what: 'bytes of nothing', bytes: '1f 80 80 80 80 00', prefixBits: 5, value: 31 },
    { what: '2^31-1', bytes: '1f e0 ff ff ff 07', prefixBits: 5, value: 0x7fff_ffff },
  ])('reads $what', ({ bytes, prefixBits, value }) => {
    const reader = readerOf(bytes);

    expect(reader.integer(prefixBits)).toBe(value);
    expect(reader.done).toBe(true);
    expect(reader.finish()).toBe(true);
  });

  it.each([
    { what: '2^31', bytes: '1f e1 ff ff ff 07' },
    { what: '2^32 and 1, which is no 1', bytes: '1f e2 ff ff ff 0f' },
    { what: 'six bytes behind the prefix', bytes: '1f 80 80 80 80 80 00' },
    { what: 'a prefix with nothing behind it', bytes: '1f' },
    { what: 'a last byte that is missing', bytes: '1f 9a' },
  ])('takes $what for an error', ({ bytes }) => {
    const reader = readerOf(bytes);

    expect(reader.integer(5)).toBe(0);
    expect(reader.broken).toBe(true);
    expect(reader.done).toBe(true);
    expect(reader.finish()).toBe(false);
  });

  it.each([4, 5, 6, 7])('reads around each border behind %i bits', (prefixBits) => {
    const borders = [2 ** prefixBits - 1, ...[7, 14, 21, 28].map((bits) => 2 ** prefixBits - 1 + 2 ** bits)];

    for (const value of borders.flatMap((border) => [border - 1, border, border + 1])) {
      const bytes = integerBytes(value, prefixBits, 0);
      const reader = new BlockReader();
      reader.begin(bytes, 0, bytes.length);
      expect(reader.integer(prefixBits)).toBe(value);
    }
  });
});

describe('RFC 7541 5.2 strings', () => {
  it.each([
    { what: 'bytes', bytes: '03 61 62 63', text: 'abc' },
    { what: 'a Huffman code', bytes: '86 a8 eb 10 64 9c bf', text: 'no-cache' },
    { what: 'nothing', bytes: '00', text: '' },
    { what: 'nothing as a Huffman code', bytes: '80', text: '' },
    { what: 'each byte as one character', bytes: '03 00 80 ff', text: '\u0000\u0080\u00ff' },
  ])('reads $what', ({ bytes, text }) => {
    const reader = readerOf(bytes);

    expect(reader.string()).toBe(text);
    expect(reader.finish()).toBe(true);
  });

  it('reads only up to the end it was given', () => {
    const reader = new BlockReader();
    reader.begin(Buffer.from('xx\x04abcd'), 2, 6);

    expect(reader.string()).toBe('');
    expect(reader.finish()).toBe(false);
  });

  it('begins anew after an error', () => {
    const reader = readerOf('02 61');
    reader.string();
    expect(reader.finish()).toBe(false);

    reader.begin(Buffer.from('\x01a'), 0, 2);

    expect(reader.string()).toBe('a');
    expect(reader.finish()).toBe(true);
  });
});
