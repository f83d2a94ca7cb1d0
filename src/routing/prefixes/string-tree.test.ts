import { describe, expect, it } from 'vitest';
import { StringTree } from './string-tree.ts';

function treeOf(maxSize = 1000): StringTree {
  const tree = new StringTree(maxSize);
  tree.add('w1');
  tree.add('w2');
  return tree;
}

const seen = (tree: StringTree, key: string, namespace: string | null = null) => {
  const { matched, total, holders } = tree.match(key, namespace);
  return [matched, total, [...holders].sort().join(' ')];
};

describe('policies 1.6.5 worked trace', () => {
  const tree = treeOf();

  // The rows build on each other.
  it.each([
    { act: 'match "hello" on the fresh tree', insert: null, match: 'hello', is: [0, 5, ''] },
    { act: 'insert "hello world" w1; match "hello"', insert: ['hello world', 'w1'], match: 'hello', is: [5, 5, 'w1'] },
    { act: 'match "hello there"', insert: null, match: 'hello there', is: [6, 11, 'w1'] },
    { act: 'match "help"', insert: null, match: 'help', is: [3, 4, 'w1'] },
    {
      act: 'insert "hello there" w2; match "hello"',
      insert: ['hello there', 'w2'],
      match: 'hello',
      is: [5, 5, 'w1 w2'],
    },
    { act: 'match "hello world"', insert: null, match: 'hello world', is: [11, 11, 'w1'] },
    { act: 'match "hello there!"', insert: null, match: 'hello there!', is: [11, 12, 'w2'] },
  ] as const)('$act: $is', ({ insert, match, is }) => {
    if (insert !== null) tree.insert(insert[0], null, insert[1]);

    expect(seen(tree, match)).toEqual(is);
  });

  it('sizes: w1 11, w2 11', () => {
    expect([tree.sizeOf('w1'), tree.sizeOf('w2'), tree.size]).toEqual([11, 11, 22]);
  });

  it('insert "hello world" w2: sizes w1 11, w2 16', () => {
    tree.insert('hello world', null, 'w2');

    expect([tree.sizeOf('w1'), tree.sizeOf('w2'), tree.size]).toEqual([11, 16, 27]);
  });

  it('evict to 20: ("world", w1), then ("hello ", w1) go; sizes w1 0, w2 16', () => {
    expect(tree.evict(20)).toBe(false);

    expect([tree.sizeOf('w1'), tree.sizeOf('w2')]).toEqual([0, 16]);
    expect(seen(tree, 'hello world')).toEqual([11, 11, 'w2']);
  });
});
