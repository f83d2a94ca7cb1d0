import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type NaiveHolding, NaiveTree } from './naive-tree.suite.ts';
import type { PrefixTree } from './prefix-tree.ts';
import type { RadixTree, Recency } from './radix-tree.ts';

/** How one kind of tree is made, and what its keys are to the model. */
export interface TreeKind<K extends string | Uint32Array> {
  readonly recency: Recency;
  /** Units that go together. */
  readonly page: number;
  create(maxSize: number): PrefixTree<K> & { readonly tree: RadixTree };
  readonly keys: fc.Arbitrary<K>;
  /** A key of so many pages that has the first `shared` in common with all others of its `family`. */
  keyOf(family: number, shared: number, pages: number): K;
  /** The key as units, without what it must not begin with when it has no namespace. */
  units(key: K, namespace: string | null): string[];
  mark(namespace: string): string[];
}

const WORKERS = Array.from({ length: 5 }, (_, i) => `w${i}`);
/** More than a node keeps in a plain list. */
const CROWD = Array.from({ length: 24 }, (_, i) => `w${i}`);
const NAMESPACES = ['00112233aabbccdd', '00112233aabbccde'];
const MAX_SIZE = 60;

type Step<K> =
  | { readonly act: 'match'; readonly key: K; readonly namespace: string | null }
  | { readonly act: 'insert'; readonly key: K; readonly namespace: string | null; readonly worker: string }
  | { readonly act: 'add' | 'forget'; readonly worker: string }
  | { readonly act: 'evict'; readonly most: number }
  | { readonly act: 'sweep' };

const sorted = (held: readonly NaiveHolding[]) =>
  held.map(({ path, run, worker, epoch }) => JSON.stringify([path, run, worker, epoch])).sort();

/** What a tree knows of a key, and whose it is. */
export function found<K extends string | Uint32Array>(tree: PrefixTree<K>, key: K, namespace: string | null = null) {
  return { ...tree.match(key, namespace), holders: tree.holders() };
}

/** What every tree of prefixes must do; `kind` tells what is particular. */
export function prefixTreeSuite<K extends string | Uint32Array>(name: string, kind: TreeKind<K>): void {
  const namespaces = fc.constantFrom(null, null, null, ...NAMESPACES);
  const steps = (workers: readonly string[], most: number, keys = kind.keys) => {
    const worker = fc.constantFrom(...workers);
    return fc.array(
      fc.oneof(
        {
          weight: 4,
          arbitrary: fc.record({ act: fc.constant('match' as const), key: keys, namespace: namespaces }),
        },
        {
          weight: 6,
          arbitrary: fc.record({ act: fc.constant('insert' as const), key: keys, namespace: namespaces, worker }),
        },
        { weight: 1, arbitrary: fc.record({ act: fc.constantFrom('add' as const, 'forget' as const), worker }) },
        { weight: 1, arbitrary: fc.record({ act: fc.constant('evict' as const), most: fc.nat(most) }) },
        { weight: 1, arbitrary: fc.record({ act: fc.constant('sweep' as const) }) },
      ),
      { maxLength: 60, size: 'max' },
    );
  };

  /** Takes the steps on both, and compares all that can be seen after each. */
  function follow(maxSize: number, workers: readonly string[], list: readonly Step<K>[]): void {
    const real = kind.create(maxSize);
    const model = new NaiveTree(kind.recency, kind.page, maxSize);
    const unitsOf = (key: K, namespace: string | null) => [
      ...(namespace === null ? [] : kind.mark(namespace)),
      ...kind.units(key, namespace),
    ];
    // A token tree does nothing for less than a page; a text tree counts even an empty text as a match.
    const isShort = (units: number) => kind.recency === 'path' && units < kind.page;
    for (const step of list) {
      const gone = () => {
        const kept = new Set(real.tree.held().map(({ path, worker }) => JSON.stringify([path, worker])));
        return ({ path, worker }: NaiveHolding) => !kept.has(JSON.stringify([path, worker]));
      };
      switch (step.act) {
        case 'match': {
          const { key, namespace } = step;
          const before = real.tree.held();
          const looked = { ...real.match(key, namespace, false), holders: real.holders() };
          expect(real.tree.held()).toEqual(before);
          const seen = found(real, key, namespace);
          expect(looked).toEqual(seen);
          const total = kind.units(key, namespace).length;
          const mark = namespace === null ? 0 : kind.mark(namespace).length;
          const known = isShort(total) ? { matched: 0, holders: [] } : model.match(unitsOf(key, namespace));
          const matched = Math.max(0, known.matched - mark);
          expect(seen).toEqual({ matched, total, holders: matched === 0 ? [] : known.holders });
          break;
        }
        case 'insert': {
          const { key, namespace, worker } = step;
          real.insert(key, namespace, worker);
          if (!isShort(kind.units(key, namespace).length)) model.insert(unitsOf(key, namespace), worker, gone());
          break;
        }
        case 'add':
          real.add(step.worker);
          model.add(step.worker);
          break;
        case 'forget':
          real.forget(step.worker);
          model.forget(step.worker);
          break;
        case 'evict':
          while (real.tree.evict(step.most));
          model.evict(step.most, gone());
          break;
        case 'sweep':
          while (real.sweep());
          expect(real.tree.nodeCount).toBe(model.nodeCount);
          break;
      }
      expect(sorted(real.tree.held())).toEqual(sorted(model.held()));
      expect(real.size).toBe(model.size);
      expect(real.size).toBeLessThanOrEqual(maxSize);
      expect(workers.map((worker) => real.sizeOf(worker))).toEqual(workers.map((worker) => model.sizeOf(worker)));
      expect(real.holderCount).toBe(workers.filter((worker) => model.sizeOf(worker) > 0).length);
    }
    for (const worker of workers) real.forget(worker);
    expect([real.size, real.holderCount]).toEqual([0, 0]);
    while (real.sweep());
    expect(real.tree.nodeCount).toBe(0);
  }

  describe(`${name} is a tree of prefixes`, () => {
    it('does as the model does, whatever happens', () => {
      fc.assert(
        fc.property(fc.integer({ min: 1, max: MAX_SIZE }), steps(WORKERS, MAX_SIZE), (maxSize, list) =>
          follow(maxSize, WORKERS, list),
        ),
        { numRuns: 100 },
      );
    });

    it('does as the model does with many holders of one node', () => {
      const everyone = CROWD.map(
        (worker): Step<K> => ({
          act: 'insert',
          key: kind.keyOf(0, 2, 4),
          namespace: null,
          worker,
        }),
      );
      const oneStem = fc.integer({ min: 1, max: 5 }).map((pages) => kind.keyOf(0, 2, pages));
      fc.assert(
        fc.property(steps(CROWD, CROWD.length * 4 * kind.page, oneStem), (list) =>
          follow(2000, CROWD, [...everyone, ...list]),
        ),
        { numRuns: 20 },
      );
    });

    it('takes a bounded piece off at a time', () => {
      const tree = kind.create(1_000_000);
      for (let i = 0; i < 2000; i++) tree.insert(kind.keyOf(i % 7, 3, 10 + (i % 60)), null, `w${i % 9}`);
      for (let i = 0; i < 2000; i++) tree.insert(kind.keyOf(100 + i, 1, 3), null, 'w0');
      const before = tree.size;

      expect(tree.tree.evict(0)).toBe(true);
      expect(tree.size).toBeGreaterThan(0);
      expect(tree.size).toBeLessThan(before);
      let pieces = 1;
      while (tree.tree.evict(0)) pieces += 1;
      expect(pieces).toBeGreaterThan(5);
      expect([tree.size, tree.tree.nodeCount]).toEqual([0, 0]);
    });

    it('lets a forgotten worker go at once, and frees its memory in pieces', () => {
      const tree = kind.create(1_000_000);
      for (let i = 0; i < 3000; i++) tree.insert(kind.keyOf(i, 1, 3), null, i % 10 === 0 ? 'stays' : 'goes');
      const nodes = tree.tree.nodeCount;

      tree.forget('goes');

      expect([tree.sizeOf('goes'), tree.holderCount]).toEqual([0, 1]);
      expect(found(tree, kind.keyOf(1, 1, 3)).holders).toEqual([]);
      expect(found(tree, kind.keyOf(10, 1, 3)).holders).toEqual(['stays']);
      expect(tree.sweep()).toBe(true);
      expect(tree.tree.nodeCount).toBeGreaterThan(nodes / 2);
      while (tree.sweep());
      expect(tree.tree.nodeCount).toBe(300);
    });

    it('has no memory of forgotten workers where others come after them', () => {
      const tree = kind.create(1_000_000);
      for (let i = 0; i < 100; i++) tree.insert(kind.keyOf(i, 1, 3), null, 'goes');
      tree.forget('goes');
      for (let i = 0; i < 100; i++) tree.insert(kind.keyOf(i, 1, 5), null, 'comes');
      for (let i = 100; i < 1000; i++) tree.insert(kind.keyOf(i, 1, 3), null, 'comes');

      const seen = Array.from({ length: 100 }, (_, i) => found(tree, kind.keyOf(i, 1, 5)));
      expect(new Set(seen.map(({ matched, holders }) => `${matched} ${holders}`))).toEqual(
        new Set([`${5 * kind.page} comes`]),
      );
    });

    it('counts what forgotten workers left against the cap, so that coming and going cannot fill the memory', () => {
      const pages = 4;
      const tree = kind.create(20 * pages * kind.page);
      for (let i = 0; i < 500; i++) {
        tree.insert(kind.keyOf(i, 0, pages), null, `w${i}`);
        tree.forget(`w${i}`);
      }

      expect(tree.size).toBe(0);
      expect(tree.tree.nodeCount).toBeLessThanOrEqual(20);
    });

    it('holds of a key above the cap as much as it may', () => {
      const tree = kind.create(3 * kind.page);
      const key = kind.keyOf(1, 2, 8);

      tree.insert(key, null, 'w1');

      expect(tree.size).toBe(3 * kind.page);
      expect(found(tree, key)).toEqual({ matched: 3 * kind.page, total: 8 * kind.page, holders: ['w1'] });
    });

    it('takes a forgotten worker back as a new one', () => {
      const tree = kind.create(1000);
      const key = kind.keyOf(1, 2, 4);
      tree.insert(key, null, 'w1');
      tree.forget('w1');
      tree.add('w1');

      expect(found(tree, key)).toMatchObject({ matched: 0, holders: [] });
      tree.insert(key, null, 'w1');
      while (tree.sweep());
      expect(found(tree, key)).toMatchObject({ matched: 4 * kind.page, holders: ['w1'] });
      expect(tree.sizeOf('w1')).toBe(4 * kind.page);
    });

    it('names all holders, however many (policies 9, pitfall 14)', () => {
      const tree = kind.create(100_000);
      const all = Array.from({ length: 100 }, (_, i) => `w${i}`);
      for (const worker of all) tree.insert(kind.keyOf(1, 2, 4), null, worker);

      expect(found(tree, kind.keyOf(1, 2, 4)).holders).toEqual(all);
    });

    it('keeps namespaces apart, and counts no mark (policies 1.6.9)', () => {
      const tree = kind.create(1000);
      const key = kind.keyOf(1, 2, 4);
      const total = 4 * kind.page;
      const [one, other] = [NAMESPACES[0]!, NAMESPACES[1]!];
      tree.insert(key, one, 'w1');

      expect(found(tree, key, one)).toEqual({ matched: total, total, holders: ['w1'] });
      expect(found(tree, key, other)).toEqual({ matched: 0, total, holders: [] });
      expect(found(tree, key)).toEqual({ matched: 0, total, holders: [] });
      expect(tree.size).toBe(total + kind.mark(one).length);
    });
  });
}
