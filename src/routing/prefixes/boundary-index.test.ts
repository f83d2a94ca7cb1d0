import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BoundaryIndex, headKeys } from './boundary-index.ts';
import { WorkerNumbers } from './worker-numbers.ts';

const TTL = 180_000;

function fresh(maxEntries = 1000): BoundaryIndex {
  return new BoundaryIndex({ ttlMs: TTL, maxEntries });
}

describe('policies 1.6.7 keys of the heads', () => {
  const tokens = Uint32Array.from({ length: 70 }, (_, i) => i);
  const keys = (of: Uint32Array, namespace: string | null = null) => headKeys([16, 64], of, namespace);

  it.each([
    [70, 2],
    [64, 2],
    [63, 1],
    [16, 1],
    [15, 0],
  ])('%d tokens reach %d of the boundaries 16 and 64', (length, count) => {
    expect(keys(tokens.subarray(0, length))).toHaveLength(count);
  });

  it('depend on the head alone', () => {
    const other = tokens.slice();
    other[64] = 999;

    expect(keys(other)).toEqual(keys(tokens));
  });

  it('depend on every token of the head', () => {
    const other = tokens.slice();
    other[63] = 999;

    expect(keys(other)[0]).toBe(keys(tokens)[0]);
    expect(keys(other)[1]).not.toBe(keys(tokens)[1]);
  });

  it('are those of the ids, wherever these stand in memory', () => {
    const shifted = new Uint32Array(100);
    shifted.set(tokens, 7);

    expect(keys(shifted.subarray(7, 77))).toEqual(keys(tokens));
  });

  it('carry the XXH3 of the ids as little-endian numbers', () => {
    // Golden vector of policies 1.8: tokens 0 to 255.
    const vector = Uint32Array.from({ length: 256 }, (_, i) => i);

    expect(headKeys([256], vector, null)).toEqual(['256::d12ba3ba3964c7ed']);
  });

  it('differ by namespace', () => {
    expect(keys(tokens, '0123456789abcdef')[0]).not.toBe(keys(tokens)[0]);
  });
});

describe('policies 1.6.7 holders', () => {
  it('live for the time to live, to its last millisecond', () => {
    const index = fresh();
    index.record('k', 'w1', 1000);

    expect(index.holders('k', 1000 + TTL)).toEqual(['w1']);
    expect(index.holders('k', 1001 + TTL)).toEqual([]);
  });

  it('live on with each prompt they get', () => {
    const index = fresh();
    index.record('k', 'w1', 0);
    index.record('k', 'w1', TTL);

    expect(index.holders('k', 2 * TTL)).toEqual(['w1']);
  });

  it('are three: a fourth takes the place of the one sent to least recently', () => {
    const index = fresh();
    for (const [at, id] of ['w1', 'w2', 'w3', 'w1', 'w4'].entries()) index.record('k', id, at);

    expect(new Set(index.holders('k', 10))).toEqual(new Set(['w1', 'w3', 'w4']));
  });

  it('lose their places to new ones first when they have left', () => {
    const index = fresh();
    for (const [at, id] of ['w1', 'w2', 'w3'].entries()) index.record('k', id, at);
    index.forget('w3', 4);

    expect(index.holders('k', 5)).toEqual(['w1', 'w2']);
    index.record('k', 'w4', 5);
    expect(new Set(index.holders('k', 5))).toEqual(new Set(['w1', 'w2', 'w4']));
  });

  it('hold nothing when they come back', () => {
    const index = fresh();
    index.record('k', 'w1', 0);
    index.forget('w1', 1);
    index.record('other', 'w1', 2);

    expect(index.holders('k', 3)).toEqual([]);
    expect(index.holders('other', 3)).toEqual(['w1']);
  });
});

describe('bounds of the boundary index', () => {
  it('the head not seen for the longest time leaves for a new one', () => {
    const index = fresh(3);
    for (const key of ['a', 'b', 'c', 'a', 'd']) index.record(key, 'w1', 0);

    expect(['a', 'b', 'c', 'd'].filter((key) => index.holders(key, 0).length > 0)).toEqual(['a', 'c', 'd']);
    expect(index.size).toBe(3);
  });

  it('the sweep removes what has expired, and only that', () => {
    const index = fresh();
    index.record('old', 'w1', 0);
    index.record('kept', 'w1', 0);
    index.record('kept', 'w2', 10);

    expect(index.sweep(TTL + 5)).toBe(false);

    expect(index.size).toBe(1);
    expect(index.holders('kept', TTL + 5)).toEqual(['w2']);
  });

  it('the sweep leaves what is as old as its time to live', () => {
    const index = fresh();
    index.record('k', 'w1', 0);

    index.sweep(TTL);
    expect(index.size).toBe(1);
    index.sweep(TTL + 1);
    expect(index.size).toBe(0);
  });

  it('the sweep goes by pieces', () => {
    const index = fresh(10_000);
    for (let i = 0; i < 5_000; i++) index.record(`k${i}`, 'w1', 0);

    expect(index.sweep(TTL + 1)).toBe(true);
    expect(index.size).toBe(3_000);
    expect(index.sweep(TTL + 1)).toBe(true);
    expect(index.sweep(TTL + 1)).toBe(false);
    expect(index.size).toBe(0);
  });

  it('behaves as a list of all touches would', () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('record' as const), key: fc.nat(5), worker: fc.nat(4), wait: fc.nat(120_000) }),
      fc.record({ kind: fc.constant('forget' as const), key: fc.nat(5), worker: fc.nat(4), wait: fc.nat(1000) }),
      fc.record({ kind: fc.constant('sweep' as const), key: fc.nat(5), worker: fc.nat(4), wait: fc.nat(1000) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const index = fresh(4);
        const model = new Map<string, { readonly holders: Map<string, number>; touched: number }>();
        let now = 0;
        for (const { kind, key, worker, wait } of steps) {
          now += wait + 1;
          const [k, w] = [`k${key}`, `w${worker}`];
          if (kind === 'sweep') index.sweep(now);
          if (kind === 'forget') {
            index.forget(w, now);
            for (const entry of model.values()) entry.holders.delete(w);
          }
          if (kind === 'record') {
            index.record(k, w, now);
            let entry = model.get(k);
            if (entry === undefined) {
              const live = [...model.entries()].sort(([, a], [, b]) => a.touched - b.touched);
              if (live.length === 4) model.delete(live[0]![0]);
              entry = { holders: new Map(), touched: now };
              model.set(k, entry);
            }
            entry.touched = now;
            entry.holders.delete(w);
            entry.holders.set(w, now);
            if (entry.holders.size > 3) entry.holders.delete([...entry.holders.keys()][0]!);
          }
          for (const [id, { touched }] of model) if (now - touched > TTL && kind === 'sweep') model.delete(id);
          for (let i = 0; i <= 5; i++) {
            const expected = [...(model.get(`k${i}`)?.holders ?? [])]
              .filter(([, at]) => now - at <= TTL)
              .map(([id]) => id)
              .sort();
            expect([...index.holders(`k${i}`, now)].sort()).toEqual(expected);
          }
          expect(index.size).toBe(model.size);
        }
      }),
    );
  });
});

describe('WorkerNumbers', () => {
  it('gives a number to another worker only after its rest', () => {
    const numbers = new WorkerNumbers(100);
    const first = numbers.of('w1', 0);
    numbers.release('w1', 10);

    expect(numbers.idOf(first)).toBeNull();
    expect(numbers.of('w2', 110)).not.toBe(first);
    expect(numbers.of('w3', 111)).toBe(first);
    expect(numbers.idOf(first)).toBe('w3');
  });

  it('keeps the number of a worker', () => {
    const numbers = new WorkerNumbers(100);

    expect(numbers.of('w1', 0)).toBe(numbers.of('w1', 1000));
  });

  it('stands for nobody without a number', () => {
    expect(new WorkerNumbers(1).idOf(-1)).toBeNull();
    expect(new WorkerNumbers(1).idOf(7)).toBeNull();
  });
});
