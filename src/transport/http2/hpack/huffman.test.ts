import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { huffmanText } from './huffman.ts';
import { bytesOfBits, EOS, HUFFMAN_CODE, huffmanBytes } from './huffman-code.suite.ts';

const read = (bytes: Buffer): string | null => huffmanText(bytes, 0, bytes.length);
const latin1 = (units: Uint8Array): string => Buffer.from(units).toString('latin1');
const codeOf = (char: string): string => HUFFMAN_CODE[char.charCodeAt(0)] ?? '';
const BYTES = Array.from({ length: 256 }, (_, byte) => byte);

describe('RFC 7541 Appendix B', () => {
  it('is the code that is read', () => {
    const texts = BYTES.map((byte) => read(bytesOfBits(HUFFMAN_CODE[byte] ?? '')));

    expect(texts).toEqual(BYTES.map((byte) => String.fromCharCode(byte)));
  });

  it('reads all bytes after each other, in both directions', () => {
    const up = latin1(Uint8Array.from(BYTES));
    const down = latin1(Uint8Array.from(BYTES.toReversed()));

    expect(read(huffmanBytes(up + down))).toBe(up + down);
  });

  it('reads what it is given of the bytes, and strings longer than any before', () => {
    const text = 'a/long/path?'.repeat(5000);
    const bytes = huffmanBytes(text);

    expect(huffmanText(Buffer.concat([Buffer.from('xyz'), bytes, Buffer.from('xyz')]), 3, 3 + bytes.length)).toBe(text);
    expect(read(huffmanBytes('short'))).toBe('short');
  });
});

describe('RFC 7541 5.2 the end of a string', () => {
  it.each([0, 1, 2, 3, 4, 5, 6, 7])('takes padding of %i ones', (padding) => {
    const found = shortestWith(padding);

    expect(paddingOf(found)).toBe(padding);
    expect(read(huffmanBytes(found))).toBe(found);
  });

  it.each([8, 9, 12, 15])('refuses padding of %i ones', (padding) => {
    const text = shortestWith(padding % 8);

    expect(read(bytesOfBits(bitsOf(text) + '1'.repeat(padding)))).toBeNull();
  });

  it.each([1, 2, 3, 4, 5, 6, 7])('refuses each padding of %i bits that are not all ones', (padding) => {
    const text = shortestWith(padding);
    for (let bits = 0; bits < 2 ** padding - 1; bits++) {
      const end = bits.toString(2).padStart(padding, '0');
      // Some are the code of one more byte, and padding behind it.
      const symbol = HUFFMAN_CODE.findIndex((code) => end.startsWith(code) && !end.slice(code.length).includes('0'));
      const expected = symbol < 0 ? null : text + String.fromCharCode(symbol);
      expect(read(bytesOfBits(bitsOf(text) + end))).toBe(expected);
    }
  });

  it.each([0, 1, 2, 3, 4, 5, 6, 7])('refuses EOS %i places into a byte, alone and before more', (place) => {
    const before = bitsOf(shortestWith((8 - place) % 8));

    expect(read(bytesOfBits(before + HUFFMAN_CODE[EOS]))).toBeNull();
    expect(read(bytesOfBits(before + HUFFMAN_CODE[EOS] + bitsOf('ab')))).toBeNull();
  });
});

describe('any string', () => {
  it('comes back', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }).map(latin1), (text) => {
        expect(read(huffmanBytes(text))).toBe(text);
      }),
    );
  });

  it('has one code: bytes that are read are those that would be written', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 12 }), (units) => {
        const bytes = Buffer.from(units);
        const text = read(bytes);
        if (text !== null) expect(huffmanBytes(text)).toEqual(bytes);
      }),
      { numRuns: 2000 },
    );
  });
});

function bitsOf(text: string): string {
  return [...text].map(codeOf).join('');
}

function paddingOf(text: string): number {
  return (8 - (bitsOf(text).length % 8)) % 8;
}

/** '0' has five bits, so that up to eight of them leave any number. */
function shortestWith(padding: number): string {
  return '0'.repeat([8, 3, 6, 1, 4, 7, 2, 5][padding] ?? 0);
}
