import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { queryValue } from './query-parameter.ts';

function read(path: string, name = 'k', most = 128): string | undefined {
  return queryValue(path, Buffer.from(name), most)?.toString();
}

/** `:path` is Latin-1 of what came over the wire. */
function wire(query: string): string {
  return `/v1/chat/completions?${Buffer.from(query).toString('latin1')}`;
}

describe('a query parameter by its name', () => {
  it.each([
    { query: 'k=abc', want: 'abc' },
    { query: 'a=1&k=abc&b=2', want: 'abc' },
    { query: 'k=first&k=second', want: 'first' },
    { query: 'k=&k=second', want: '' },
    { query: 'k', want: '' },
    { query: 'k&a=1', want: '' },
    { query: '&&k=abc', want: 'abc' },
    { query: 'k=a+b%20c', want: 'a b c' },
    { query: 'k=a%26b%3dc', want: 'a&b=c' },
    { query: 'k=a=b', want: 'a=b' },
    { query: 'k=cl%C3%A9', want: 'clé' },
    { query: 'k=clé', want: 'clé' },
    { query: 'k=100%', want: '100%' },
    { query: 'k=%zz%4', want: '%zz%4' },
    { query: 'k=a?b', want: 'a?b' },
    { query: '%6B=abc', want: 'abc' },
    { query: 'kk=1', want: undefined },
    { query: 'K=1', want: undefined },
    { query: 'a=k', want: undefined },
    { query: '', want: undefined },
  ])('?$query: $want', ({ query, want }) => {
    expect(read(wire(query))).toBe(want);
  });

  it('has none in a path without a query', () => {
    expect(read('/k=1')).toBeUndefined();
  });

  it('finds a name that is written with escapes', () => {
    expect(read(wire('conv+id=1'), 'conv id')).toBe('1');
    expect(read(wire('conv%5B0%5D=1'), 'conv[0]')).toBe('1');
    expect(read(wire('a%3Db=1'), 'a=b')).toBe('1');
  });

  it('decodes one byte more than is allowed, so that too long a value is known', () => {
    expect(read(wire('k=abcdef'), 'k', 3)).toBe('abcd');
    expect(read(wire('k=abc'), 'k', 3)).toBe('abc');
    expect(read(wire(`k=${'%61'.repeat(1000)}`), 'k', 3)).toBe('aaaa');
  });

  it('reads what URLSearchParams reads', () => {
    const piece = fc.oneof(
      fc.constantFrom('k', '=', '&', '+', '%', '%4', '%41', '%C3%A9', '%zz', 'é', 'a', '?', '%26', '%3d'),
      fc.string({ unit: 'grapheme', maxLength: 2 }),
    );
    const query = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join('').replaceAll('#', ''));
    fc.assert(
      fc.property(query, fc.constantFrom('k', 'a', 'ka', 'é', '%'), (text, name) => {
        // URLSearchParams drops a byte order mark, and a question mark at the front; in Node it decodes wrongly where raw
        // UTF-8 and a percent sign alone come together.
        fc.pre(text.isWellFormed() && !text.includes('\uFEFF'));
        const ascii = text.replace(/[^ -~]+/g, encodeURIComponent);
        expect(read(wire(text), name, 10_000)).toBe(new URLSearchParams(`&${ascii}`).get(name) ?? undefined);
      }),
      { numRuns: 1000 },
    );
  });
});
