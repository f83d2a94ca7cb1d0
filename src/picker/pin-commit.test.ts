import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { PickerBench, urlOf } from '../../test/support/picker-bench.ts';
import type { MemoryPinStore } from '../pins/memory-pin-store.ts';
import type { Pin, PinStore } from '../pins/pin-store.ts';

const at = (n: number): string => `10.0.0.${n}:8000`;

/** A store that answers writes later, as one shared between replicas does. */
class SlowStore implements PinStore {
  readonly local: MemoryPinStore;
  readonly waiting: (() => void)[] = [];
  /** Written by another replica before ours arrives. */
  rival: readonly string[] | null = null;
  failing = false;

  constructor(local: MemoryPinStore) {
    this.local = local;
  }

  get size(): number {
    return this.local.size;
  }
  get evicted(): number {
    return this.local.evicted;
  }
  get(key: string, now: number): Pin | undefined {
    return this.local.get(key, now);
  }
  peek(key: string): Pin | undefined {
    return this.local.peek(key);
  }
  idleMs(key: string, now: number): number | null {
    return this.local.idleMs(key, now);
  }
  put(key: string, candidates: readonly string[], expectedVersion: number, now: number): Promise<Pin> {
    return new Promise((resolve, reject) => {
      this.waiting.push(() => {
        if (this.failing) return reject(new Error('store is gone'));
        if (this.rival !== null) this.local.put(key, this.rival, 0, now);
        resolve(this.local.put(key, candidates, expectedVersion, now));
      });
    });
  }
  touch(key: string, now: number): void {
    this.local.touch(key, now);
  }
  delete(key: string): boolean {
    return this.local.delete(key);
  }
  sweep(now: number, maxIdleMs: number): number {
    return this.local.sweep(now, maxIdleMs);
  }
  readonly kind = 'redis';
  readonly away = false;
  fetch(key: string): Pin | undefined {
    return this.local.peek(key);
  }
  list(limit: number, cursor: string | null, now: number) {
    return this.local.list(limit, cursor, now);
  }
  settle(): void {
    for (const write of this.waiting.splice(0)) write();
  }
}

describe('a store that has to be asked', () => {
  function slow() {
    const found: { store?: SlowStore } = {};
    const bench = new PickerBench({
      pins: (local) => {
        found.store = new SlowStore(local);
        return found.store;
      },
    }).ready(1, 2, 3);
    return { bench, store: found.store! };
  }

  it('first requests of one key at once share one worker (decisions 5)', async () => {
    const { bench, store } = slow();
    const answers = [bench.ask({ rid: 'new' }), bench.ask({ rid: 'new' })];

    store.settle();

    const destinations = (await Promise.all(answers)).map((each) =>
      each.kind === 'pick' ? each.destination : each.kind,
    );
    expect(destinations[0]!.split(',')[0]).toBe(at(1));
    expect(destinations[1]!.split(',')[0]).toBe(at(1));
    expect(bench.metrics.manualBranches.cell('vacant').value).toBe(1);
    expect(bench.metrics.manualBranches.cell('occupied_hit').value).toBe(1);
  });

  it('follows the winner of another replica', async () => {
    const { bench, store } = slow();
    store.rival = [urlOf(3)];
    const answer = bench.ask({ rid: 'new' });

    store.settle();

    expect(await answer).toMatchObject({ kind: 'pick' });
    expect(bench.worker(3).load.requests).toBe(1);
    expect(bench.worker(1).load.requests).toBe(0);
  });

  it('places anew when the worker went away while the store was asked (field-lessons R25)', async () => {
    const { bench, store } = slow();
    const answer = bench.ask({ rid: 'new' });
    bench.down(1);

    store.settle();
    await setImmediate();
    store.settle();

    const placed = await answer;
    expect(placed.kind === 'pick' && placed.destination.split(',')[0]).toBe(at(3));
    expect(bench.worker(1).load.requests).toBe(0);
    expect(bench.local.peek('7:unknown:s:new')?.candidates).toEqual([urlOf(3), urlOf(1)]);
  });

  it('a known key is never asked about', () => {
    const { bench } = slow();
    bench.local.put('7:unknown:s:known', [urlOf(2)], 0, bench.now);

    expect(bench.pick({ rid: 'known' }).destination.split(',')[0]).toBe(at(2));
  });

  it('passes when the store fails, and counts nothing as in flight', async () => {
    const { bench, store } = slow();
    store.failing = true;
    const answer = bench.ask({ rid: 'new' });

    store.settle();

    expect(await answer).toEqual({ kind: 'pass' });
    expect(bench.failures).toHaveLength(1);
    expect(bench.ledger.opened).toBe(0);
  });
});

it('a store that answers at once with another pin is followed as well', () => {
  let rival = true;
  const bench = new PickerBench({
    pins: (local) => {
      const put = local.put.bind(local);
      local.put = (key, candidates, expectedVersion, now) => {
        if (rival) put(key, [urlOf(3)], 0, now);
        rival = false;
        return put(key, candidates, expectedVersion, now);
      };
      return local;
    },
  }).ready(1, 2, 3);

  expect(bench.pick({ rid: 'new' }).destination.split(',')[0]).toBe(at(3));
  expect(bench.metrics.manualBranches.cell('occupied_hit').value).toBe(1);
});

it('goes by the pin in the end, where others were faster again and again', () => {
  const rivals = [2, 3, 4];
  const bench = new PickerBench({
    pins: (local) => {
      const put = local.put.bind(local);
      local.put = (key, candidates, expectedVersion, now) => {
        const rival = rivals.shift();
        if (rival === undefined) return put(key, candidates, expectedVersion, now);
        put(key, [urlOf(rival)], local.peek(key)?.version ?? 0, now);
        const held = put(key, candidates, expectedVersion, now);
        if (rival !== 4) bench.down(rival);
        return held;
      };
      return local;
    },
  }).ready(1, 2, 3, 4, 5);

  expect(bench.pick({ rid: 'new' }).destination.split(',')[0]).toBe(at(4));
  expect(rivals).toHaveLength(0);
  expect(bench.local.peek('7:unknown:s:new')?.candidates).toEqual([urlOf(4)]);
});
