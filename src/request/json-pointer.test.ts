import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonSpelling } from '../../test/support/json-spelling.ts';
import { bodyMembersAnd } from './body-members.ts';
import { JsonPointer } from './json-pointer.ts';
import { scanObject } from './json-scanner.ts';
import { plainKeyOf } from './routing-key.ts';

function read(body: string | Buffer, text: string): string | null {
  const pointer = JsonPointer.parse(text);
  if (pointer === null) throw new Error(`no pointer: ${text}`);
  return pointer.keyIn(scanObject(Buffer.from(body), bodyMembersAnd([pointer.root])));
}

describe('RFC 6901 a key in the body', () => {
  const body = JSON.stringify({
    model: 'm',
    user: 'u1',
    metadata: { user_id: 'm1', deep: { er: ['x', { id: 7 }] }, 'a/b': 's', 'm~n': 't', '': 'empty', '0': 'zero' },
    list: [['p', 'q'], 12, -3, 0, 1.5, 1e21, true, null, '', {}, []],
    prompt_cache_key: 'pck',
    '': 'root',
  });

  it.each([
    ['/user', 'u1'],
    ['/model', 'm'],
    ['/prompt_cache_key', 'pck'],
    ['/metadata/user_id', 'm1'],
    ['/metadata/deep/er/0', 'x'],
    ['/metadata/deep/er/1/id', '7'],
    ['/metadata/a~1b', 's'],
    ['/metadata/m~0n', 't'],
    ['/metadata/', 'empty'],
    ['/metadata/0', 'zero'],
    ['/', 'root'],
    ['/list/0/1', 'q'],
    ['/list/1', '12'],
    ['/list/2', '-3'],
    ['/list/3', '0'],
    ['/list/4', null],
    ['/list/5', null],
    ['/list/6', null],
    ['/list/7', null],
    ['/list/8', null],
    ['/list/9', null],
    ['/list/10', null],
    ['/list/11', null],
    ['/list/01', null],
    ['/list/-', null],
    ['/list/-1', null],
    ['/list/x', null],
    ['/list', null],
    ['/metadata', null],
    ['/user/0', null],
    ['/user/length', null],
    ['/none', null],
    ['/metadata/none/deeper', null],
  ])('%s: %s', (pointer, want) => {
    expect(read(body, pointer)).toBe(want);
  });

  it.each([
    { what: 'escapes', body: '{"user":"a\\u0062\\/\\ud83d\\ude00"}', want: 'ab/😀' },
    { what: 'an escaped name', body: '{"us\\u0065r":"a"}', want: 'a' },
    { what: 'the first of two', body: '{"user":"a","user":"b"}', want: 'a' },
    { what: 'white space', body: ' {\n"user" :\t"a" } ', want: 'a' },
    { what: 'a control character', body: '{"user":"a\\u0000"}', want: null },
    { what: 'a raw control character', body: '{"user":"a\nb"}', want: null },
    { what: 'half a surrogate pair', body: '{"user":"\\ud83d"}', want: null },
    { what: 'a number beyond 64 bits', body: `{"user":${'9'.repeat(128)}}`, want: '9'.repeat(128) },
    { what: 'a number of 129 digits', body: `{"user":${'9'.repeat(129)}}`, want: null },
    { what: 'no number', body: '{"user":01}', want: null },
    { what: 'a sign alone', body: '{"user":-}', want: null },
    { what: '128 bytes', body: `{"user":"${'é'.repeat(64)}"}`, want: 'é'.repeat(64) },
    { what: '128 bytes, all escaped', body: `{"user":"${'\\u0061'.repeat(128)}"}`, want: 'a'.repeat(128) },
    { what: '130 bytes', body: `{"user":"${'é'.repeat(65)}"}`, want: null },
    { what: 'a megabyte', body: `{"user":"${'k'.repeat(1 << 20)}"}`, want: null },
    { what: 'no body', body: '', want: null },
    { what: 'no object', body: '["a"]', want: null },
    { what: 'a value that is cut', body: '{"user":"a', want: null },
    { what: 'a number that may go on', body: '{"user":12', want: null },
    { what: 'a body that is cut behind it', body: '{"user":"a","messages":[{"con', want: 'a' },
  ])('$what: $want', ({ body: text, want }) => {
    expect(read(text, '/user')).toBe(want);
  });

  it.each([
    { what: 'whole in a member that is cut', body: '{"m":{"a":["x","y"],"b":"zz', want: 'y' },
    { what: 'cut', body: '{"m":{"a":["x","y', want: null },
    { what: 'behind a fault', body: '{"m":{"z" 1,"a":["x","y"]}}', want: null },
    { what: 'in brackets that do not match', body: '{"m":{"a":["x"},"y"]]}', want: null },
  ])('within a member, $what: $want', ({ body: text, want }) => {
    expect(read(text, '/m/a/1')).toBe(want);
  });

  it.each(['', 'user', 'user/a', '/a~', '/a~2', '/a\\b'])('%j is no pointer', (text) => {
    expect(JsonPointer.parse(text)).toBeNull();
  });

  it('finds what a look into the parsed document finds, however it is spelled', () => {
    const name = fc.constantFrom('a', 'b', 'é', '', 'a/b', '~', '0', '1', 'user');
    const { document } = fc.letrec<{ document: object; value: unknown }>((tie) => ({
      document: fc.dictionary(name, tie('value'), { maxKeys: 5, noNullPrototype: true }),
      value: fc.oneof(
        { maxDepth: 3, withCrossShrink: true },
        fc.oneof(
          fc.string({ unit: 'grapheme', maxLength: 6 }),
          fc.integer(),
          fc.double(),
          fc.boolean(),
          fc.constant(null),
        ),
        fc.array(tie('value'), { maxLength: 4 }),
        tie('document'),
      ),
    }));
    fc.assert(
      fc.property(document, fc.array(name, { minLength: 1, maxLength: 4 }), fc.integer(), (value, tokens, seed) => {
        const text = tokens.map((token) => `/${token.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

        expect(read(new JsonSpelling(seed).write(value), text)).toBe(lookUp(value, tokens));
      }),
      { numRuns: 1000 },
    );
  });

  it('never throws, whatever the bytes', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'{}[]",:\\a1 -') }), (inside) => {
        expect(() => read(`{"m":${inside}`, '/m/a/1')).not.toThrow();
      }),
      { numRuns: 1000 },
    );
  });
});

/** RFC 6901 over a document that was built. */
function lookUp(document: unknown, tokens: readonly string[]): string | null {
  let at = document;
  for (const token of tokens) {
    const isIndex = Array.isArray(at) && !/^(0|[1-9]\d*)$/.test(token);
    if (typeof at !== 'object' || at === null || isIndex || !Object.hasOwn(at, token)) return null;
    at = (at as Record<string, unknown>)[token];
  }
  if (typeof at === 'string') return plainKeyOf(at);
  const spelled = typeof at === 'number' ? JSON.stringify(at) : '';
  return /^-?\d+$/.test(spelled) ? spelled : null;
}
