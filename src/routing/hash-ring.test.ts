import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HashRing, nodesOf, type Position, positionOf, VIRTUAL_NODES } from './hash-ring.ts';

const W1 = 'http://w1:8000';
const W2 = 'http://w2:8000';
const W3 = 'http://w3:8000';

function asBigInt({ high, low }: Position): bigint {
  return (BigInt(high) << 32n) | BigInt(low);
}

/** Owner of a key when the ids in `out` are not eligible. */
function owner(ring: HashRing, key: string, ...out: readonly string[]): string | null {
  const eligible = ring.ids.map((id) => (out.includes(id) ? undefined : id));
  return ring.find(positionOf(key), eligible, []);
}

describe('policies 1.8 golden vectors', () => {
  const ring = new HashRing([W1, W2, W3]);

  it.each([
    ['http://w2:8000#149', 0x6ed788dcc765b508n],
    ['user-1', 0x582652fd0524859dn],
  ])('position of %s', (text, position) => {
    expect(asBigInt(positionOf(text))).toBe(position);
  });

  it('lowest and highest node', () => {
    const lowest = ring.nodeAt(0);
    const highest = ring.nodeAt(ring.size - 1);

    expect([asBigInt(lowest.position), lowest.id]).toEqual([771555424114657n, W1]);
    expect([asBigInt(highest.position), highest.id]).toEqual([18392310083390601518n, W2]);
  });

  it('splits user-0 … user-999 as 332, 312, 356', () => {
    const share = new Map<string | null, number>();
    for (let i = 0; i < 1000; i++) {
      const id = owner(ring, `user-${i}`);
      share.set(id, (share.get(id) ?? 0) + 1);
    }

    expect(Object.fromEntries(share)).toEqual({ [W1]: 332, [W2]: 312, [W3]: 356 });
  });

  it.each([
    { key: 'user-1', all: W3, without1: W3, without2: W3, without3: W2 },
    { key: 'user-2', all: W2, without1: W2, without2: W3, without3: W2 },
    { key: 'user-3', all: W3, without1: W3, without2: W3, without3: W1 },
    { key: '10.0.0.1', all: W2, without1: W2, without2: W3, without3: W2 },
  ])('owner of $key with all, and with w1, w2, w3 out', ({ key, all, without1, without2, without3 }) => {
    expect([owner(ring, key), owner(ring, key, W1), owner(ring, key, W2), owner(ring, key, W3)]).toEqual([
      all,
      without1,
      without2,
      without3,
    ]);
  });

  it.each([
    ['d12ba3ba3964c7ed', W3],
    ['f3c34bf11915e869', W1],
    ['7c7615c11438e5c9', W3],
  ])('owner of the prefix key %s', (key, id) => {
    expect(owner(ring, key)).toBe(id);
  });
});

describe('owners and successors over other addresses', () => {
  const ids = ['http://127.0.7.11:8000', 'http://127.0.7.12:8000', 'http://127.0.7.13:8000'];
  const ring = new HashRing(ids);

  it.each([
    ['user-123', 1, 0],
    ['session-abc', 1, 0],
    ['conv', 1, 2],
    ['key-0', 0, 1],
    ['clé-café', 0, 2],
    ['user-2', 2, 1],
    ['user-3', 1, 0],
    ['k6', 2, 1],
    ['k8', 0, 2],
    ['conv_t2', 0, 1],
  ])('%s: owner %i, then %i', (key, first, second) => {
    expect(owner(ring, key)).toBe(ids[first]);
    expect(owner(ring, key, ids[first]!)).toBe(ids[second]);
  });
});

describe('sticky-sessions 3.14 ring', () => {
  const ids = fc.uniqueArray(fc.stringMatching(/^http:\/\/[a-z]{1,8}:80$/), { minLength: 1, maxLength: 8 });
  const keys = Array.from({ length: 300 }, (_, i) => `key-${i}`);

  it('has 150 nodes for each distinct id, sorted as unsigned numbers', () => {
    const ring = new HashRing([W1, W2, W1, W3, W3]);

    expect(ring.ids).toEqual([W1, W2, W3]);
    expect(ring.size).toBe(3 * VIRTUAL_NODES);
    for (let place = 1; place < ring.size; place++) {
      expect(asBigInt(ring.nodeAt(place).position)).toBeGreaterThanOrEqual(asBigInt(ring.nodeAt(place - 1).position));
    }
  });

  it('sorts positions that differ in one half only, equal ones by the order of their ids', () => {
    const half = fc.constantFrom(0, 1, 0x7fffffff, 0x80000000, 0xffffffff);
    const halves = fc.array(half, { minLength: VIRTUAL_NODES, maxLength: VIRTUAL_NODES });
    fc.assert(
      fc.property(fc.array(fc.tuple(halves, halves), { maxLength: 4 }), (all) => {
        const ids = all.map((_, i) => `w${i}`);
        const nodes = (id: string) => {
          const [high, low] = all[ids.indexOf(id)]!;
          return { high: Uint32Array.from(high), low: Uint32Array.from(low) };
        };
        const ring = new HashRing(ids, nodes);
        const want = ids.flatMap((id) => {
          const { high, low } = nodes(id);
          return [...high].map((h, i) => ({ id, position: { high: h, low: low[i]! } }));
        });
        want.sort((a, b) => Number(asBigInt(a.position) - asBigInt(b.position)));

        expect(Array.from({ length: ring.size }, (_, place) => ring.nodeAt(place))).toEqual(want);
      }),
      { numRuns: 20 },
    );
  });

  it('takes the node that stands exactly at the position, and wraps after the last', () => {
    const ring = new HashRing([W1, W2, W3]);
    const all = [...ring.ids];
    for (let place = 0; place < ring.size; place++) {
      expect(ring.find(ring.nodeAt(place).position, all, [])).toBe(ring.nodeAt(place).id);
    }

    expect(ring.find({ high: 0xffffffff, low: 0xffffffff }, all, [])).toBe(ring.nodeAt(0).id);
    expect(ring.find({ high: 0, low: 0 }, all, [])).toBe(ring.nodeAt(0).id);
  });

  it('finds the owner that a plain search over whole numbers finds', () => {
    fc.assert(
      fc.property(ids, fc.string(), (members, key) => {
        const ring = new HashRing(members);
        const at = asBigInt(positionOf(key));
        const nodes = members.flatMap((id) => {
          const { high, low } = nodesOf(id);
          return [...high].map((h, i) => ({ id, at: asBigInt({ high: h, low: low[i]! }) }));
        });
        nodes.sort((a, b) => (a.at < b.at ? -1 : 1));

        expect(owner(ring, key)).toBe((nodes.find((node) => node.at >= at) ?? nodes[0]!).id);
      }),
      { numRuns: 30 },
    );
  });

  it('answers null when nobody is eligible, and without members', () => {
    expect(owner(new HashRing([W1, W2]), 'k', W1, W2)).toBeNull();
    expect(owner(new HashRing([]), 'k')).toBeNull();
  });

  it('passes over the taken ones until all were found once', () => {
    fc.assert(
      fc.property(ids, fc.string(), (members, key) => {
        const ring = new HashRing(members);
        const taken: string[] = [];
        for (let id = ring.find(positionOf(key), [...ring.ids], taken); id !== null; ) {
          expect(taken).not.toContain(id);
          taken.push(id);
          id = ring.find(positionOf(key), [...ring.ids], taken);
        }

        expect(taken.toSorted()).toEqual(members.toSorted());
      }),
      { numRuns: 30 },
    );
  });

  it('moves only the keys of the one that leaves, and only to the one that joins', () => {
    fc.assert(
      fc.property(ids, (members) => {
        const joined = 'http://joins:80';
        fc.pre(!members.includes(joined));
        const before = new HashRing(members);
        const after = new HashRing([...members, joined]);
        for (const key of keys) {
          const now = owner(after, key);
          // Read one way it is a join, read the other way the same worker leaves.
          if (now !== joined) expect(now).toBe(owner(before, key));
        }
      }),
      { numRuns: 30 },
    );
  });

  it('moves about its share when a fourth worker joins three', () => {
    const before = new HashRing([W1, W2, W3]);
    const after = new HashRing([W1, W2, W3, 'http://w4:8000']);
    let moved = 0;
    for (let i = 0; i < 10_000; i++) if (owner(before, `key-${i}`) !== owner(after, `key-${i}`)) moved++;

    expect(moved).toBeGreaterThan(1_800);
    expect(moved).toBeLessThan(3_200);
  });

  it('does not depend on the order of the members', () => {
    const one = new HashRing([W1, W2, W3]);
    const other = new HashRing([W3, W1, W2]);

    for (const key of keys) expect(owner(one, key)).toBe(owner(other, key));
  });
});
