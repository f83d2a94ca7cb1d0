import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { headOf } from '../../test/support/head.ts';
import { NO_TOKEN_HINTS } from '../../test/support/token-hints.ts';
import { parseRoutingTokens, readRoutingTokens } from './routing-tokens.ts';

const parse = (value: string | Buffer): number[] | null => {
  const tokens = parseRoutingTokens(Buffer.from(value));
  return tokens === null ? null : [...tokens];
};
const repeated = (id: string, count: number): string => new Array(count).fill(id).join(',');

describe('sticky-sessions 1.5 routing tokens', () => {
  it.each<[string, number[]]>([
    ['1,2,3', [1, 2, 3]],
    ['42', [42]],
    ['0,4294967295', [0, 4294967295]],
    ['007', [7]],
    [`${'0'.repeat(4095)}7`, [7]],
  ])('%.20s is read', (value, ids) => {
    expect(parse(value)).toEqual(ids);
  });

  it('512 ids are read, 513 are not', () => {
    expect(parse(repeated('7', 512))).toEqual(new Array(512).fill(7));
    expect(parse(repeated('7', 513))).toBeNull();
  });

  it('4096 bytes are read, 4097 are not', () => {
    expect(parse('0'.repeat(4096))).toEqual([0]);
    expect(parse('0'.repeat(4097))).toBeNull();
    expect(parse(repeated('123456789', 512))).toBeNull();
  });

  it.each(NO_TOKEN_HINTS)('%j is ignored', (value) => {
    expect(parse(value)).toBeNull();
  });

  it('bytes FF FE are ignored', () => {
    expect(parse(Buffer.from([0xff, 0xfe]))).toBeNull();
  });

  it('reads the first value of its header', () => {
    const head = headOf({
      headers: [
        ['X-SMG-Routing-Tokens', '1,2'],
        ['x-smg-routing-tokens', '3'],
      ],
    });

    expect(readRoutingTokens(head)).toEqual(Uint32Array.of(1, 2));
    expect(readRoutingTokens(headOf())).toBeNull();
  });

  it('answers with memory of its own', () => {
    const first = parseRoutingTokens(Buffer.from('1,2'));
    parseRoutingTokens(Buffer.from('8,9'));

    expect(first).toEqual(Uint32Array.of(1, 2));
  });

  it('is what a pattern and number parsing do', () => {
    const model = (value: string): number[] | null => {
      if (value.length > 4096 || !/^[0-9]+(,[0-9]+)*$/.test(value)) return null;
      const ids = value.split(',').map(Number);
      return ids.length > 512 || ids.some((id) => id > 0xffffffff) ? null : ids;
    };
    const loose = fc.string({ unit: fc.constantFrom('0', '4', '9', ',', ',', 'x'), maxLength: 40 });
    const ids = fc
      .array(fc.nat({ max: 0x1_0000_0010 }), { minLength: 1, maxLength: 600 })
      .map((list) => list.join(','));

    fc.assert(
      fc.property(fc.oneof(loose, ids), (value) => {
        expect(parse(value)).toEqual(model(value));
      }),
      { numRuns: 500 },
    );
  });
});
