import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Pages } from './alphabet.ts';
import { tokenText } from './namespace-mark.ts';
import { found, prefixTreeSuite } from './prefix-tree.suite.ts';
import { TokenTree } from './token-tree.ts';

/** Tokens `from`, `from + 1`, … */
const run = (from: number, length: number) => Uint32Array.from({ length }, (_, i) => from + i);
const join = (...parts: Uint32Array[]) => Uint32Array.from(parts.flatMap((part) => [...part]));

describe('policies 1.6.6 token tree', () => {
  const treeOf = (maxSize = 100_000, page = 16) => {
    const tree = new TokenTree(maxSize, page);
    tree.add('w1');
    tree.add('w2');
    return tree;
  };

  it('cuts the input to whole pages: of 20 tokens it knows 16', () => {
    const tree = treeOf();
    tree.insert(run(0, 20), null, 'w1');

    expect(tree.size).toBe(16);
    expect(found(tree, run(0, 20))).toEqual({ matched: 16, total: 20, holders: ['w1'] });
  });

  it('16 of 48 tokens match', () => {
    const tree = treeOf();
    tree.insert(run(0, 16), null, 'w1');

    expect(found(tree, run(0, 48))).toEqual({ matched: 16, total: 48, holders: ['w1'] });
  });

  it('fewer tokens than one page: no match, no insert', () => {
    const tree = treeOf();
    tree.insert(run(0, 15), null, 'w1');
    tree.insert(run(0, 15), '00112233aabbccdd', 'w1');

    expect([tree.size, tree.tree.nodeCount]).toEqual([0, 0]);
    expect(found(tree, run(0, 15))).toEqual({ matched: 0, total: 15, holders: [] });
  });

  it('rounds a common length down to a page', () => {
    const tree = treeOf();
    tree.insert(run(0, 48), null, 'w1');

    const key = join(run(0, 30), run(900, 18));
    expect(found(tree, key)).toEqual({ matched: 16, total: 48, holders: ['w1'] });
    tree.insert(key, null, 'w2');
    expect([tree.sizeOf('w1'), tree.sizeOf('w2')]).toEqual([48, 48]);
    expect(found(tree, key)).toMatchObject({ matched: 48, holders: ['w2'] });
    expect(found(tree, run(0, 32))).toMatchObject({ matched: 32, holders: ['w1'] });
  });

  it('a match refreshes each node on its way, so that a hot stem outlives its leaves', () => {
    const tree = treeOf();
    tree.insert(run(0, 32), null, 'w1');
    tree.insert(join(run(0, 16), run(500, 16)), null, 'w1');
    tree.insert(run(1000, 16), null, 'w1');
    tree.match(run(0, 16), null);

    tree.tree.evict(32);

    expect(tree.match(run(1000, 16), null).matched).toBe(16);
    expect(tree.match(run(0, 32), null).matched).toBe(16);
    tree.tree.evict(16);
    expect(tree.match(run(0, 16), null).matched).toBe(16);
    expect(tree.match(run(1000, 16), null).matched).toBe(0);
  });

  it('a hint of few ids is used as it is', () => {
    const tree = treeOf(1000, 1);
    tree.insert(run(7, 3), null, 'w1');

    expect(found(tree, run(7, 4))).toEqual({ matched: 3, total: 4, holders: ['w1'] });
  });

  it('keeps ids that take all 32 bits apart', () => {
    const tree = treeOf(1000, 1);
    tree.insert(Uint32Array.of(1, 0xffff_ffff, 0xd800_dc00, 0x0001_d800), null, 'w1');

    expect(tree.match(Uint32Array.of(1, 0xffff_ffff, 0xd800_dc00, 0x0001_d800), null).matched).toBe(4);
    expect(tree.match(Uint32Array.of(1, 0xffff_ffff, 0xd800_dc01), null).matched).toBe(2);
    expect(tree.match(Uint32Array.of(1, 0x7fff_ffff), null).matched).toBe(1);
  });

  it('does not hold on to the array of the caller', () => {
    const tree = treeOf(1000, 1);
    const tokens = run(0, 100);
    tree.insert(tokens, null, 'w1');
    tokens.fill(7);

    expect(tree.match(run(0, 100), null).matched).toBe(100);
  });
});

describe('policies 1.6.6 pages whose keys collide', () => {
  /** Pages of two tokens with one key: the second token takes back what the first one changes. */
  const multiplier = 0xcc9e2d51;
  const inverse = (odd: number) => {
    let guess = odd;
    for (let i = 0; i < 5; i++) guess = Math.imul(guess, 2 - Math.imul(odd, guess));
    return guess;
  };
  const afterOne = (token: number) => {
    const mixed = Math.imul(token, multiplier);
    return (Math.imul((mixed << 13) | (mixed >>> 19), 0x9e3779b1) + 0x165667b1) | 0;
  };
  const colliding = (first: number) => Uint32Array.of(first, Math.imul(afterOne(first) ^ 12345, inverse(multiplier)));
  const pages = Array.from({ length: 7 }, (_, i) => colliding(i + 1));

  it('have one key', () => {
    const keys = pages.map((page) => new Pages(2).keyAt(tokenText(page), 0));

    expect(new Set(keys).size).toBe(1);
  });

  it('do not match each other; of very many the later ones are not held', () => {
    const tree = new TokenTree(1000, 2);
    for (const page of pages) tree.insert(page, null, `w${page[0]}`);

    const holders = pages.map((page) => found(tree, page).holders.join());
    expect(holders).toEqual(['w1', 'w2', 'w3', 'w4', '', '', '']);
    expect(tree.size).toBe(8);
  });
});

describe('policies 1.6.9 tokens', () => {
  it.each([
    { page: 1, mark: 2 },
    { page: 2, mark: 2 },
    { page: 16, mark: 16 },
  ])('with pages of $page a mark takes $mark ids', ({ page, mark }) => {
    const tree = new TokenTree(1000, page);
    tree.insert(run(0, 32), '00112233aabbccdd', 'w1');

    expect(tree.size).toBe(32 + mark);
    expect(found(tree, run(0, 33), '00112233aabbccdd')).toEqual({
      matched: 32,
      total: 33,
      holders: ['w1'],
    });
  });

  it('ids of marks at the beginning cannot get into a namespace, and do not count', () => {
    const tree = new TokenTree(1000, 4);
    tree.insert(run(0, 8), '00112233aabbccdd', 'w1');
    const forged = join(Uint32Array.of(0x8011_2233, 0xaabb_ccdd, 0x8000_0000, 0x8000_0000), run(0, 8));

    expect(found(tree, forged)).toEqual({ matched: 0, total: 8, holders: [] });
    tree.insert(forged, null, 'w2');
    expect(found(tree, run(0, 8))).toEqual({ matched: 8, total: 8, holders: ['w2'] });
  });
});

describe('room for long tokens among many short ones', () => {
  it('1,024 holdings go for them, and they are remembered by their beginning in whole pages', () => {
    const tree = new TokenTree(1500 * 16 + 7, 16);
    for (let i = 0; i < 1500; i++) tree.insert(run(i * 100, 16), null, 'w1');
    const long = run(1_000_000, 1500 * 16);

    tree.insert(long, null, 'w2');

    expect(tree.size).toBe(1500 * 16);
    expect(found(tree, long)).toEqual({ matched: 1024 * 16, total: 1500 * 16, holders: ['w2'] });
  });
});

const unit = (token: number) => String.fromCharCode(token & 0xffff, token >>> 16);
for (const page of [1, 2, 3]) {
  const ids = fc.constantFrom(0, 1, 1, 2, 0x10000, 0x7fff_ffff, 0x8000_0000, 0x8011_2233, 0xaabb_ccdd);
  prefixTreeSuite<Uint32Array>(`TokenTree of pages of ${page}`, {
    recency: 'path',
    page,
    create: (maxSize) => new TokenTree(maxSize, page),
    keys: fc.array(ids, { maxLength: 14 }).map((list) => Uint32Array.from(list)),
    keyOf: (family, shared, pages) =>
      Uint32Array.from({ length: pages * page }, (_, i) => family * 3 + (i < shared * page ? 0 : 1 + (pages % 2))),
    units: (key, namespace) => {
      const list = [...key];
      while (namespace === null && (list[0] ?? 0) >= 0x8000_0000) list.shift();
      return list.map(unit);
    },
    mark: (namespace) => {
      const half = (digits: string) => unit((Number.parseInt(digits, 16) | 0x8000_0000) >>> 0);
      const ids = [half(namespace.slice(0, 8)), half(namespace.slice(8))];
      while (ids.length % page !== 0) ids.push(unit(0x8000_0000));
      return ids;
    },
  });
}
