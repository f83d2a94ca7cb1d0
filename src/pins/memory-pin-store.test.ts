import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MemoryPinStore } from './memory-pin-store.ts';
import { pinStoreSuite } from './pin-store.suite.ts';
import type { Pin } from './pin-store.ts';

pinStoreSuite('MemoryPinStore', (maxPins) => new MemoryPinStore({ maxPins }));

describe('MemoryPinStore', () => {
  it('never gives an old version to a key that was forgotten', () => {
    const store = new MemoryPinStore({ maxPins: 10 });
    const before = store.put('k', ['a'], 0, 1);
    store.delete('k');
    const after = store.put('k', ['b'], 0, 2);

    expect(store.put('k', ['c'], before.version, 3)).toEqual(after);
  });

  it('removes a bounded number of pins in one sweep', () => {
    const store = new MemoryPinStore({ maxPins: 100_000 });
    for (let i = 0; i < 30_000; i++) store.put(`k${i}`, ['a'], 0, 0);

    const removed = store.sweep(1e9, 1);

    expect(removed).toBeGreaterThan(0);
    expect(removed).toBeLessThanOrEqual(2_000);
  });
});

/** The same store, written for plainness: an array in order of use. */
class ModelStore {
  entries: { key: string; candidates: readonly string[]; version: number; used: number }[] = [];
  evicted = 0;
  writes = 0;
  readonly maxPins: number;

  constructor(maxPins: number) {
    this.maxPins = maxPins;
  }

  find(key: string) {
    return this.entries.find((entry) => entry.key === key);
  }

  use(key: string, now: number) {
    const entry = this.find(key);
    if (entry === undefined) return undefined;
    entry.used = now;
    this.entries = [...this.entries.filter((other) => other !== entry), entry];
    return entry;
  }

  put(key: string, candidates: readonly string[], expectedVersion: number, now: number) {
    const old = this.find(key);
    if (old !== undefined && old.version !== expectedVersion) return old;
    if (old === undefined && this.entries.length === this.maxPins) {
      this.entries.shift();
      this.evicted++;
    }
    const entry = { key, candidates, version: ++this.writes, used: now };
    this.entries = [...this.entries.filter((other) => other !== old), entry];
    return entry;
  }

  remove(keep: (entry: { key: string; used: number }) => boolean) {
    const before = this.entries.length;
    this.entries = this.entries.filter(keep);
    return before - this.entries.length;
  }
}

const key = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g');
const list = fc.constantFrom(['w1'], ['w2'], ['w1', 'w2'], ['w2', 'w1']);
const step = fc.oneof(
  fc.record({ op: fc.constant('get' as const), key }),
  fc.record({ op: fc.constant('touch' as const), key }),
  fc.record({ op: fc.constant('peek' as const), key }),
  fc.record({ op: fc.constant('delete' as const), key }),
  fc.record({ op: fc.constant('put' as const), key, list, fresh: fc.boolean() }),
  fc.record({ op: fc.constant('sweep' as const), idle: fc.nat(20) }),
);

describe('MemoryPinStore against a plain model', () => {
  const shown = (pin: Pin | undefined) => pin && { candidates: pin.candidates, version: pin.version };

  it('answers the same in any order of calls', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5 }),
        fc.array(fc.tuple(step, fc.nat(3)), { maxLength: 60 }),
        (max, steps) => {
          const store = new MemoryPinStore({ maxPins: max });
          const model = new ModelStore(max);
          let now = 0;

          for (const [call, passed] of steps) {
            now += passed;
            switch (call.op) {
              case 'get':
                expect(store.get(call.key, now)).toEqual(shown(model.use(call.key, now)));
                break;
              case 'touch':
                store.touch(call.key, now);
                model.use(call.key, now);
                break;
              case 'peek':
                expect(store.peek(call.key)).toEqual(shown(model.find(call.key)));
                break;
              case 'delete':
                expect(store.delete(call.key)).toBe(model.remove((entry) => entry.key !== call.key) === 1);
                break;
              case 'put': {
                const version = call.fresh ? (model.find(call.key)?.version ?? 0) : 0;
                expect(store.put(call.key, call.list, version, now)).toEqual(
                  shown(model.put(call.key, call.list, version, now)),
                );
                break;
              }
              case 'sweep':
                expect(store.sweep(now, call.idle)).toBe(
                  call.idle === 0 ? 0 : model.remove((entry) => now - entry.used < call.idle),
                );
                break;
            }
            expect(store.size).toBe(model.entries.length);
            expect(store.evicted).toBe(model.evicted);
          }

          const rows = store.list(100, null, now).pins.toSorted((x, y) => x.key.localeCompare(y.key));
          expect(rows).toEqual(
            model.entries
              .map((entry) => ({ ...shown(entry), key: entry.key, idleMs: now - entry.used, shared: false }))
              .toSorted((x, y) => x.key.localeCompare(y.key)),
          );
        },
      ),
    );
  });
});
