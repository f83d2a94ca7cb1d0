import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { prefixTreeSuite } from './prefix-tree.suite.ts';
import { StringTree } from './string-tree.ts';

function treeOf(maxSize = 1000): StringTree {
  const tree = new StringTree(maxSize);
  tree.add('w1');
  tree.add('w2');
  return tree;
}

const seen = (tree: StringTree, key: string, namespace: string | null = null) => {
  const { matched, total } = tree.match(key, namespace);
  return [matched, total, [...tree.holders()].sort().join(' ')];
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
    expect(tree.tree.evict(20)).toBe(false);

    expect([tree.sizeOf('w1'), tree.sizeOf('w2')]).toEqual([0, 16]);
    expect(seen(tree, 'hello world')).toEqual([11, 11, 'w2']);
  });
});

describe('policies 1.6.5 string tree', () => {
  it('registers a worker at the root with nothing', () => {
    const tree = treeOf();

    expect([tree.size, tree.sizeOf('w1'), tree.holderCount]).toEqual([0, 0, 0]);
  });

  it('empty text sees only the root', () => {
    const tree = treeOf();
    tree.insert('', null, 'w1');

    expect(seen(tree, '')).toEqual([0, 0, '']);
    expect(tree.size).toBe(0);
  });

  it('counts Unicode scalar values, and parts no surrogate pair', () => {
    const tree = treeOf();
    tree.insert('a😀b', null, 'w1');

    expect(seen(tree, 'a😀b')).toEqual([3, 3, 'w1']);
    // Both begin with the same half.
    expect(seen(tree, 'a😁b')).toEqual([1, 3, 'w1']);
    tree.insert('a😁b', null, 'w2');
    expect([tree.sizeOf('w1'), tree.sizeOf('w2')]).toEqual([3, 3]);
    expect(seen(tree, 'a😁')).toEqual([2, 2, 'w2']);
    expect(tree.tree.held().every(({ run }) => run.isWellFormed())).toBe(true);
  });

  it('cuts at the cap between scalar values', () => {
    const tree = treeOf(2);
    tree.insert('😀😁😂', null, 'w1');

    expect(seen(tree, '😀😁😂')).toEqual([2, 3, 'w1']);
  });

  it('evicts a shared stem first once its leaves are gone, even if it is hot (policies 9, pitfall 13)', () => {
    const tree = treeOf();
    tree.insert('stem-old', null, 'w1');
    tree.insert('stem-new', null, 'w2');
    tree.insert('other', null, 'w2');
    tree.insert('stem-new', null, 'w1');
    tree.insert('stem-old', null, 'w2');
    // w2 came to the stem with epoch 0, and has used both of its leaves after "other".
    tree.tree.evict(tree.size - 3);
    expect(seen(tree, 'stem-old')).toEqual([8, 8, 'w2']);
    expect(tree.sizeOf('w1')).toBe(8);
  });

  it('one match in eight is a use', () => {
    const survivor = (matches: number) => {
      const tree = treeOf();
      tree.insert('first', null, 'w1');
      tree.insert('second', null, 'w2');
      for (let i = 0; i < matches; i++) tree.match('first', null);
      tree.tree.evict(6);
      return [tree.sizeOf('w1'), tree.sizeOf('w2')];
    };

    // Epochs 0 and 1 are those of the inserts: the seventh match has epoch 8.
    expect(survivor(6)).toEqual([0, 6]);
    expect(survivor(7)).toEqual([5, 0]);
  });

  it('an insert above the cap evicts what was used least recently', () => {
    const tree = treeOf(10);
    tree.insert('aaaaa', null, 'w1');
    tree.insert('bbbbb', null, 'w2');
    tree.insert('ccc', null, 'w1');

    expect(tree.size).toBe(8);
    expect(seen(tree, 'aaaaa')).toEqual([0, 5, '']);
    expect(seen(tree, 'bbbbb')).toEqual([5, 5, 'w2']);
  });

  it('long texts: finds where they part', () => {
    const long = Array.from({ length: 70_000 }, (_, i) => String.fromCharCode(32 + ((i * 7919) % 90))).join('');
    for (const wide of ['', '中', '😀']) {
      const tree = new StringTree(10_000_000);
      tree.insert(wide + long, null, 'w1');
      for (const at of [0, 1, 31, 32, 33, 63, 64, 65, 4095, 4096, 4097, 35_000, 69_998, 69_999]) {
        const key = `${wide}${long.slice(0, at)}\u0000${long.slice(at + 1)}`;

        expect(tree.match(key, null).matched, `${wide} ${at}`).toBe(at + (wide === '' ? 0 : 1));
      }
      expect(tree.match(wide + long.slice(0, 50_000), null).matched).toBe(50_000 + (wide === '' ? 0 : 1));
    }
  });
});

describe('policies 1.6.9 text', () => {
  it.each([
    { key: '\u0001hello', is: 'hello' },
    { key: '\u000100112233aabbccdd\u0001hello', is: '00112233aabbccdd\u0001hello' },
    { key: '\u0001\u0001\u000100112233aabbccdd\u0001hello', is: '00112233aabbccdd\u0001hello' },
  ])('$key cannot get into a namespace', ({ key, is }) => {
    const tree = treeOf();
    tree.insert('hello', '00112233aabbccdd', 'w1');

    expect(seen(tree, key)).toEqual([0, is.length, '']);
    tree.insert(key, null, 'w2');
    expect(seen(tree, is)).toEqual([is.length, is.length, 'w2']);
    expect(seen(tree, 'hello', '00112233aabbccdd')).toEqual([5, 5, 'w1']);
  });
});

describe('room for a long text among many small ones', () => {
  const full = (filler: (index: number) => string, count: number) => {
    const tree = new StringTree(count);
    for (let i = 0; i < count; i++) tree.insert(filler(i), null, 'w1');
    return tree;
  };
  const small = (index: number) => String.fromCodePoint(0x4e00 + index);

  it.each(['a', '😀'])('1,024 holdings go for it, and it is remembered by its beginning: %s', (unit) => {
    const tree = full(small, 3000);
    const text = unit.repeat(3000);

    tree.insert(text, null, 'w2');

    expect(tree.size).toBe(3000);
    expect(tree.sizeOf('w1')).toBe(3000 - 1024);
    expect(seen(tree, text)).toEqual([1024, 3000, 'w2']);
    expect(seen(tree, small(1023))).toEqual([0, 1, '']);
    expect(seen(tree, small(1024))).toEqual([1, 1, 'w1']);
  });

  it('the rest is remembered with the next turns', () => {
    const tree = full(small, 3000);
    const text = 'a'.repeat(3000);
    for (let i = 0; i < 3; i++) tree.insert(text, null, 'w2');

    expect(seen(tree, text)).toEqual([3000, 3000, 'w2']);
  });

  it('no more go for one that another worker holds already, and it stays with that one alone', () => {
    const tree = new StringTree(6000);
    for (let i = 0; i < 4000; i++) tree.insert(small(i), null, 'w1');
    const text = 'a'.repeat(2000);
    tree.insert(text, null, 'w2');

    tree.insert(text, null, 'w3');

    expect([tree.sizeOf('w1'), tree.sizeOf('w2'), tree.sizeOf('w3')]).toEqual([4000 - 1024, 2000, 0]);
    expect(seen(tree, text)).toEqual([2000, 2000, 'w2']);
  });

  it('no more go for one of which another worker holds the most, and it is remembered up to there', () => {
    const tree = new StringTree(6000);
    for (let i = 0; i < 4000; i++) tree.insert(small(i), null, 'w1');
    tree.insert('a'.repeat(1000) + 'b'.repeat(1000), null, 'w2');

    tree.insert('a'.repeat(1000) + 'c'.repeat(10) + 'd'.repeat(1000), null, 'w3');

    expect([tree.sizeOf('w1'), tree.sizeOf('w2'), tree.sizeOf('w3')]).toEqual([4000 - 1024, 2000, 1024]);
    expect(seen(tree, `${'a'.repeat(1000)}${'c'.repeat(30)}`)).toEqual([1010, 1030, 'w3']);
  });
});

const fragments = fc.constantFrom(
  'a',
  'ab',
  'b',
  'ba',
  'é',
  '中',
  '😀',
  '😁',
  '\u0001',
  '\u000100112233aabbccdd\u0001',
);
prefixTreeSuite<string>('StringTree', {
  recency: 'last',
  page: 1,
  create: (maxSize) => new StringTree(maxSize),
  keys: fc.array(fragments, { maxLength: 12 }).map((parts) => parts.join('')),
  keyOf: (family, shared, pages) =>
    Array.from({ length: pages }, (_, i) =>
      String.fromCodePoint(0x4e00 + family * 3 + (i < shared ? 0 : 1 + (pages % 2))),
    ).join(''),
  units: (key, namespace) => {
    const units = [...key];
    while (namespace === null && units[0] === '\u0001') units.shift();
    return units;
  },
  mark: (namespace) => [...`\u0001${namespace}\u0001`],
});
