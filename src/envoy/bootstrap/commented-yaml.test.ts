import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { commentedYaml } from './commented-yaml.ts';

describe('commented YAML', () => {
  it('puts a comment above the member that it names', () => {
    expect(commentedYaml({ a: 1, '# b': 'why b\nand more', b: 2 })).toBe('a: 1\n# why b\n# and more\nb: 2\n');
  });

  it('puts a comment above an item of a list, and at the head of the file', () => {
    const text = commentedYaml({
      '#': 'head',
      list: [
        { '#': 'first', a: 1, b: 2 },
        { '#': 'second', a: 3 },
      ],
    });
    expect(text).toBe('# head\n\nlist:\n  # first\n  - a: 1\n    b: 2\n  # second\n  - a: 3\n');
  });

  it('writes short collections without comments on one line', () => {
    expect(commentedYaml({ a: { b: [1, 2], c: 'x' } })).toBe('a: {b: [1, 2], c: x}\n');
  });

  it('comments never change the data', () => {
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        { maxDepth: 4 },
        fc.string(),
        fc.integer(),
        fc.boolean(),
        fc.constant(null),
        tie('list'),
        tie('map'),
      ),
      list: fc.array(tie('any'), { maxLength: 4 }),
      map: fc.dictionary(
        fc.string().filter((name) => !name.startsWith('#') && name !== '__proto__'),
        tie('any'),
        { maxKeys: 4, noNullPrototype: true },
      ),
    })).map;
    fc.assert(
      fc.property(value, fc.string({ unit: 'grapheme-ascii' }), (data, comment) => {
        const plain = data as Record<string, unknown>;
        const withComments: Record<string, unknown> = {};
        for (const [name, member] of Object.entries(plain)) {
          withComments[`# ${name}`] = comment;
          withComments[name] = member;
        }
        expect(parse(commentedYaml(withComments))).toEqual(plain);
      }),
    );
  });
});
