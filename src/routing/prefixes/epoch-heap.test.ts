import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FloatColumn, NONE, Records } from './columns.ts';
import { EpochHeap } from './epoch-heap.ts';

const PLACE = 3;

describe('heap of epochs', () => {
  const actions = fc.array(
    fc.tuple(fc.constantFrom('push', 'push', 'remove', 'grow'), fc.nat(30), fc.integer({ min: 1, max: 40 })),
    { maxLength: 150, size: 'max' },
  );

  it('has the smallest epoch on top, whatever was pushed, removed and used', () => {
    fc.assert(
      fc.property(actions, (list) => {
        const records = new Records();
        const epochs = new FloatColumn();
        const heap = new EpochHeap(records, PLACE, epochs);
        const entries = Array.from({ length: 31 }, () => records.take());
        for (const entry of entries) {
          epochs.reach(entry);
          records.set(entry, PLACE, NONE);
        }
        const model = new Map<number, number>();
        for (const [act, index, value] of list) {
          const entry = entries[index]!;
          if (act === 'push' && !model.has(entry)) {
            epochs.set(entry, value);
            heap.push(entry);
            model.set(entry, value);
          } else if (act === 'remove' && model.delete(entry)) {
            heap.remove(entry);
          } else if (act === 'grow' && model.has(entry)) {
            model.set(entry, model.get(entry)! + value);
            epochs.set(entry, model.get(entry)!);
            heap.grown(entry);
          }
          expect(heap.top === NONE ? null : model.get(heap.top)).toBe(
            model.size === 0 ? null : Math.min(...model.values()),
          );
        }
        expect(entries.filter((entry) => heap.has(entry))).toEqual(entries.filter((entry) => model.has(entry)));
      }),
    );
  });
});
