import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { headOf } from '../../test/support/head.ts';
import { readAscii, readHint, readVisible } from './header-readers.ts';

const bytes = (text: string): Buffer => Buffer.from(text);

describe('sticky-sessions 1.1 the two readers', () => {
  it.each<[string, Buffer, string | null, string | null]>([
    ['session-abc', bytes('session-abc'), 'session-abc', 'session-abc'],
    ['empty', bytes(''), null, null],
    ['k x 128', bytes('k'.repeat(128)), 'k'.repeat(128), 'k'.repeat(128)],
    ['k x 129', bytes('k'.repeat(129)), null, 'k'.repeat(129)],
    ['clé-café', bytes('clé-café'), 'clé-café', null],
    ['C3 28', Buffer.from([0xc3, 0x28]), null, null],
    ['64 x é', bytes('é'.repeat(64)), 'é'.repeat(64), null],
    ['65 x é', bytes('é'.repeat(65)), null, null],
    ['upper case A', bytes('A'), 'A', 'A'],
    ['lower case a', bytes('a'), 'a', 'a'],
  ])('%s', (_title, value, hint, ascii) => {
    expect(readHint(value)).toBe(hint);
    expect(readAscii(value)).toBe(ascii);
  });

  it('looks at the first value only: an empty one is not rescued by a valid second one', () => {
    const head = headOf({
      headers: [
        ['X-SMG-Routing-Key', ''],
        ['x-smg-routing-key', 'abc'],
      ],
    });

    const first = head.first('x-smg-routing-key');

    expect(first && readHint(first)).toBeNull();
    expect(first && readAscii(first)).toBeNull();
  });

  it.each([
    ['overlong slash', [0xc0, 0xaf]],
    ['overlong euro sign', [0xf0, 0x82, 0x82, 0xac]],
    ['surrogate', [0xed, 0xa0, 0x80]],
    ['above U+10FFFF', [0xf4, 0x90, 0x80, 0x80]],
    ['cut sequence', [0x61, 0xe2, 0x82]],
    ['lone continuation', [0x80]],
  ])('R-HINT rejects invalid UTF-8: %s', (_title, value) => {
    expect(readHint(Uint8Array.from(value))).toBeNull();
  });

  it('trims, unquotes, decodes and strips nothing', () => {
    for (const value of [' a ', '"a"', '%41', 'a\tb']) {
      expect(readHint(bytes(value))).toBe(value);
      expect(readAscii(bytes(value))).toBe(value);
    }
    expect(readHint(bytes('\ufeffa'))).toBe('\ufeffa');
  });

  it.each([0x00, 0x08, 0x0a, 0x1f, 0x7f, 0x80, 0xff])('R-ASCII rejects byte %i', (byte) => {
    expect(readAscii(Buffer.from([0x61, byte]))).toBeNull();
  });

  it('readVisible takes an empty value', () => {
    expect(readVisible(bytes(''))).toBe('');
    expect(readVisible(bytes('é'))).toBeNull();
  });
});

describe('readers against a naive model', () => {
  const value = fc.oneof(
    fc.uint8Array({ maxLength: 140 }),
    fc.string({ unit: 'binary', maxLength: 70 }).map((text) => Uint8Array.from(Buffer.from(text))),
    fc.string({ maxLength: 140 }).map((text) => Uint8Array.from(Buffer.from(text))),
  );

  it('R-HINT is a fatal UTF-8 decoder with a cap', () => {
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    const model = (input: Uint8Array): string | null => {
      if (input.length === 0 || input.length > 128) return null;
      try {
        return decoder.decode(input);
      } catch {
        return null;
      }
    };

    fc.assert(
      fc.property(value, (input) => {
        expect(readHint(input)).toBe(model(input));
      }),
    );
  });

  it('R-ASCII is a character class', () => {
    const model = (input: Uint8Array): string | null => {
      const text = Buffer.from(input).toString('latin1');
      return /^[\x20-\x7e\t]+$/.test(text) ? text : null;
    };

    fc.assert(
      fc.property(value, (input) => {
        expect(readAscii(input)).toBe(model(input));
      }),
    );
  });
});
