import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inputIdsText, readInputIds } from './input-ids.ts';

const idsOf = (raw: string): number[] | null => {
  const bytes = Buffer.from(`${raw},"x":[9]}`);
  const ids = readInputIds(bytes, 0, raw.length);
  return ids === null ? null : [...ids];
};
const cutIds = (raw: string): number[] | null => {
  const ids = readInputIds(Buffer.from(raw), 0, -1);
  return ids === null ? null : [...ids];
};
const textOf = (raw: string): string => inputIdsText(Buffer.from(`${raw},"x":[9]}`), 0, raw.length);

describe('policies 6.3 input_ids', () => {
  it.each<[string, number[] | null]>([
    ['[1,2,3]', [1, 2, 3]],
    ['[42]', [42]],
    ['[[1,2],[3]]', [1, 2]],
    ['[-1]', [4294967295]],
    ['[-2147483648,2147483647]', [2147483648, 2147483647]],
    ['[4294967295,-0,0]', [4294967295, 0, 0]],
    [' [ 1 ,\n2 ]'.trim(), [1, 2]],
    ['[ [ 7 ] ]', [7]],
    ['[]', null],
    ['[[],[3]]', null],
    ['[[]]', null],
    ['[1.5]', null],
    ['[1e3]', null],
    ['[4294967296]', null],
    ['[-2147483649]', null],
    ['[99999999999999999999999]', null],
    ['[1,"2"]', null],
    ['["1"]', null],
    ['[1,null]', null],
    ['[1,[2]]', null],
    ['[1,]', null],
    ['[,1]', null],
    ['[1 2]', null],
    ['[-]', null],
    ['[+1]', null],
    ['[[[1]]]', null],
    ['{"0":1}', null],
    ['null', null],
    ['"1,2"', null],
  ])('%s -> %j', (raw, ids) => {
    expect(idsOf(raw)).toEqual(ids);
  });

  it.each<[string, number[] | null]>([
    ['[1,2,3', [1, 2]],
    ['[1,2,', [1, 2]],
    ['[1,2 ', [1, 2]],
    ['[1,-', [1]],
    ['[[1,2],[3', [1, 2]],
    ['[[1,2', [1]],
    ['[1', null],
    ['[', null],
    ['[[', null],
    ['[ ', null],
  ])('of the beginning %s -> %j', (raw, ids) => {
    expect(cutIds(raw)).toEqual(ids);
  });

  it('grows for many short ids', () => {
    const ids = Array.from({ length: 5000 }, (_, i) => i % 10);

    expect(idsOf(JSON.stringify(ids))).toEqual(ids);
  });

  it('owns exactly its ids', () => {
    const ids = readInputIds(Buffer.from('[1,22,333]'), 0, 10);

    expect(ids?.buffer.byteLength).toBe(12);
  });
});

describe('policies 6.1 input_ids as text', () => {
  it.each<[string, string]>([
    ['[1,2,3]', '1 2 3'],
    ['[[],[3]]', '3'],
    ['[[],[3,-4],[5]]', '3 -4 5'],
    ['[]', ''],
    ['[1.5,"7",{"a":8},true,2]', '2'],
  ])('%s -> %j', (raw, text) => {
    expect(textOf(raw)).toBe(text);
  });

  it('leaves out what a cut may have shortened', () => {
    expect(inputIdsText(Buffer.from('[[],[3,45'), 0, -1)).toBe('3');
  });
});

describe('readInputIds against JSON.parse', () => {
  const id = fc.integer({ min: -(2 ** 31), max: 2 ** 32 - 1 });
  const list = fc.array(id, { maxLength: 50 });

  it('reads every list and the first of every batch', () => {
    fc.assert(
      fc.property(list, fc.array(list, { maxLength: 3 }), fc.nat({ max: 2 }), (first, more, indent) => {
        const expected = first.length === 0 ? null : [...Uint32Array.from(first, (each) => each >>> 0)];
        expect(idsOf(JSON.stringify(first, null, indent))).toEqual(expected);
        expect(idsOf(JSON.stringify([first, ...more], null, indent))).toEqual(expected);
        expect(textOf(JSON.stringify([first, ...more], null, indent))).toBe([first, ...more].flat().join(' '));
      }),
    );
  });

  it('never throws', () => {
    const soup = fc.string({ unit: fc.constantFrom(...'[],-0123456789 .e"{}n'.split('')), maxLength: 30 });

    fc.assert(
      fc.property(soup, (raw) => {
        const bytes = Buffer.from(`[${raw}`);
        for (const end of [-1, bytes.length]) {
          expect(readInputIds(bytes, 0, end)?.length).not.toBe(0);
          expect(typeof inputIdsText(bytes, 0, end)).toBe('string');
        }
      }),
      { numRuns: 3000 },
    );
  });
});
