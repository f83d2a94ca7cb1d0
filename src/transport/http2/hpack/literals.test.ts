import { describe, expect, it } from 'vitest';
import { HpackDecoder } from './decoder.ts';
import { indexedStatus200, literalField } from './literals.ts';

function read(block: Buffer): [string, string][] {
  const fields: [string, string][] = [];
  expect(
    new HpackDecoder(0).decode(block, 0, block.length, { field: (name, value) => fields.push([name, value]) }),
  ).toBe(true);
  return fields;
}

describe('RFC 7541 6.2.2 fields that touch no table', () => {
  it.each([
    {
      what: 'C.2.2, a name of the static table',
      name: ':path',
      value: '/sample/path',
      hex: '040c2f73616d706c652f70617468',
    },
    { what: 'the first index of a name', name: ':status', value: '404', hex: '0803343034' },
    { what: 'an index beyond the prefix', name: 'content-type', value: 'a', hex: '0f100161' },
    { what: 'a name of its own', name: 'grpc-status', value: '0', hex: '000b677270632d7374617475730130' },
    { what: 'an empty value', name: ':path', value: '', hex: '0400' },
  ])('writes $what', ({ name, value, hex }) => {
    const block = literalField(name, value);

    expect(block.toString('hex')).toBe(hex);
    expect(read(block)).toEqual([[name, value]]);
  });

  it.each([126, 127, 128, 254, 255, 16_510, 16_511])('writes a value of %i bytes', (length) => {
    const value = 'v'.repeat(length);

    expect(read(literalField('grpc-message', value))).toEqual([['grpc-message', value]]);
  });

  it('writes one byte for each character', () => {
    expect(read(literalField('a', '\u00e4\u00ff'))).toEqual([['a', '\u00e4\u00ff']]);
  });

  it('has :status 200 as one byte', () => {
    expect(read(indexedStatus200)).toEqual([[':status', '200']]);
    expect(indexedStatus200).toHaveLength(1);
  });
});
