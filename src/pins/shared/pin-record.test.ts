import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeChange, decodePin, encodeCandidates, encodeChange, encodePin } from './pin-record.ts';

const version = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
const id = fc.string({ minLength: 1, unit: 'grapheme' }).filter((text) => !text.includes('\n'));
const pin = fc.record({ candidates: fc.array(id, { maxLength: 3 }), version });
const change = fc.record({ name: id, candidates: fc.array(id, { maxLength: 3 }), version });
/** Texts near to what is well-formed. */
const nearly = fc
  .array(fc.constantFrom('0', '1', '9', '\n', 'a', ' ', '-', '.', 'e', 'x', '9007199254740991'), { maxLength: 12 })
  .map((parts) => parts.join(''));

describe('pins and changes on the wire', () => {
  it('are what they were', () => {
    fc.assert(
      fc.property(pin, change, (stored, told) => {
        expect(decodePin(encodePin(stored))).toEqual(stored);
        expect(decodeChange(encodeChange(told))).toEqual(told);
      }),
    );
  });

  it('have one spelling: what can be read is written so again', () => {
    const text = fc.oneof(nearly, fc.string());
    fc.assert(
      fc.property(text, (value) => {
        const read = decodePin(value);
        if (read !== null) expect(encodePin(read)).toBe(value);
        const heard = decodeChange(value);
        if (heard !== null) expect(encodeChange(heard)).toBe(value);
      }),
    );
  });

  it('are written like this', () => {
    const one = { candidates: ['http://10.244.12.34:8000'], version: 1_800_000_000_000_000 };

    expect(encodePin(one)).toBe('11800000000000000\nhttp://10.244.12.34:8000');
    expect(encodePin({ candidates: [], version: 5 })).toBe('15');
    expect(encodeChange({ name: 'n', candidates: ['a', 'b'], version: 5 })).toBe('1n\n5\na\nb');
    expect(encodeCandidates(['a', 'b'])).toBe('a\nb');
  });

  it.each([
    ['nothing', ''],
    ['another format', '25\na'],
    ['no version', '1'],
    ['no version before an id', '1\na'],
    ['version 0', '10'],
    ['a leading zero', '105\na'],
    ['a sign', '1-5\na'],
    ['a fraction', '15.5\na'],
    ['a version of 2^53', '19007199254740992\na'],
    ['a version of 17 digits', '110000000000000000\na'],
    ['an empty id', '15\n'],
    ['an empty id between others', '15\na\n\nb'],
    ['text after the version', '15 \na'],
  ])('are null for %s', (_, value) => {
    expect(decodePin(value)).toBeNull();
    expect(decodeChange(`1name\n${value.slice(1)}`)).toEqual(value.startsWith('2') ? expect.anything() : null);
  });

  it.each(['', '1', '1name', '1\n5\na', '2name\n5\na', 'name'])('have no change in %j', (message) => {
    expect(decodeChange(message)).toBeNull();
  });
});
