import { describe, expect, it } from 'vitest';
import { headerName } from './text-types.ts';

describe('sticky-sessions 1.3 names of headers', () => {
  const { schema } = headerName();
  const accepts = (name: string) => schema.safeParse(name).success;

  it('are kept in lower case', () => {
    expect(schema.parse('X-Routing-Key')).toBe('x-routing-key');
  });

  it.each(['', 'has space', 'a\u0007b', 'a\n', ':path', 'naïve', 'a(b)', 'a,b', 'a"b', 'a/b', 'a@b', 'a[b', 'a{b'])(
    'cannot be %j',
    (name) => {
      expect(accepts(name)).toBe(false);
    },
  );

  it('hold token characters only (RFC 9110 5.6.2)', () => {
    const tokens = "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

    const accepted = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)).filter(accepts);

    expect(accepted.sort()).toEqual([...tokens].sort());
  });
});
