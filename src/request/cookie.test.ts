import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cookieValue } from './cookie.ts';

function read(header: string, name = 'sid'): string | undefined {
  const value = cookieValue(Buffer.from(header), Buffer.from(name));
  return value === undefined ? undefined : Buffer.from(value).toString();
}

describe('RFC 6265 a cookie by its name', () => {
  it.each([
    { header: 'sid=abc', want: 'abc' },
    { header: 'a=1; sid=abc; b=2', want: 'abc' },
    { header: 'a=1;sid=abc;b=2', want: 'abc' },
    { header: '  sid = abc \t; b=2', want: 'abc' },
    { header: 'sid=first; sid=second', want: 'first' },
    { header: 'sid=; sid=second', want: '' },
    { header: 'sid="abc"', want: 'abc' },
    { header: 'sid="', want: '"' },
    { header: 'sid="a', want: '"a' },
    { header: 'sid=""', want: '' },
    { header: 'sid=a=b==', want: 'a=b==' },
    { header: 'sid=a%20b', want: 'a%20b' },
    { header: 'sid=clé', want: 'clé' },
    { header: 'SID=abc', want: undefined },
    { header: 'xsid=1; sidx=2', want: undefined },
    { header: 'sid', want: undefined },
    { header: 'sid; sid=abc', want: 'abc' },
    { header: 'a="x; sid=abc"', want: 'abc"' },
    { header: '', want: undefined },
    { header: ';;; sid=abc', want: 'abc' },
    { header: '=abc', want: undefined },
  ])('$header: $want', ({ header, want }) => {
    expect(read(header)).toBe(want);
  });

  it('finds what was put together, whatever stands around it', () => {
    const name = fc.stringMatching(/^[A-Za-z0-9_.-]{1,6}$/);
    const value = fc.stringMatching(/^[!#-+\--:<-[\]-~]{0,12}$/); // cookie-octet
    const pairs = fc.array(fc.tuple(name, value), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(pairs, fc.boolean(), fc.constantFrom('; ', ';', ' ; ', ';;'), (list, quotes, between) => {
        const written = list.map(([key, text]) => `${key}=${quotes ? `"${text}"` : text}`).join(between);
        for (const [key] of list) expect(read(written, key)).toBe(list.find(([other]) => other === key)?.[1]);
      }),
    );
  });

  it('takes any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        expect(() => cookieValue(bytes, Buffer.from('a'))).not.toThrow();
      }),
    );
  });
});
