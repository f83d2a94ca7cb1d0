import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withoutMembers } from './body-without.ts';
import { MemberNames, scanObject } from './json-scanner.ts';

const NAMES = new MemberNames(['a', 'b']);

function without(body: string, ...unwanted: readonly number[]): string {
  const scan = scanObject(Buffer.from(body), NAMES);
  expect(scan.status).toBe('object');
  return withoutMembers(scan, NAMES, unwanted).toString();
}

describe('members removed from a body', () => {
  it.each<[string, string, number[], string]>([
    ['none there', '{"x":1}', [0, 1], '{"x":1}'],
    ['an empty object', '{ }', [0], '{ }'],
    ['the only one', '{"a":{"b":"}"}}', [0], '{}'],
    ['the first', '{ "a":1, "x":2 }', [0], '{"x":2 }'],
    ['the last', '{"x": 2 , "a":1}', [0], '{"x": 2}'],
    ['one in between', '{"x":1,"a":[","],"y":2}', [0], '{"x":1,"y":2}'],
    ['two beside each other', '{"a":1,"b":2,"x":3}', [0, 1], '{"x":3}'],
    ['two at the end', '{"x":3,"a":1,"b":2}', [0, 1], '{"x":3}'],
    ['all', '{"a":1,"b":2}', [0, 1], '{}'],
    ['each repetition', '{"a":1,"x":0,"\\u0061":2,"a":3}', [0], '{"x":0}'],
    ['only what is asked', '{"a":1,"b":2}', [1], '{"a":1}'],
    ['the same name deeper down stays', '{"x":{"a":1},"a":2}', [0], '{"x":{"a":1}}'],
    ['a byte order mark stays', '\ufeff{"a":1,"x":2}', [0], '\ufeff{"x":2}'],
  ])('%s', (_, body, unwanted, left) => {
    expect(without(body, ...unwanted)).toBe(left);
  });

  it('is what a JSON library makes of it', () => {
    const value = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd', '"', 'é'), fc.jsonValue());
    fc.assert(
      fc.property(value, fc.subarray([0, 1]), fc.constantFrom(undefined, 2, '\t'), (object, unwanted, indent) => {
        const { a: _, ...noA } = object;
        const { b: __, ...noB } = object;
        const { b: ___, ...none } = noA;
        const left = unwanted.length === 2 ? none : unwanted[0] === 0 ? noA : unwanted[0] === 1 ? noB : object;
        expect(JSON.parse(without(JSON.stringify(object, null, indent), ...unwanted))).toEqual(
          JSON.parse(JSON.stringify(left)),
        );
      }),
    );
  });
});
