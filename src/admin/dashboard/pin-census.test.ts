import { describe, expect, it } from 'vitest';
import { PickerBench, urlOf } from '../../../test/support/picker-bench.ts';
import { MemoryPinStore } from '../../pins/memory-pin-store.ts';
import { PinCensus } from './pin-census.ts';

function benchOf(pinned: readonly (readonly string[])[]) {
  const { registry, ...bench } = new PickerBench().ready(1, 2);
  const pins = new MemoryPinStore({ maxPins: 10_000 });
  for (const [i, candidates] of pinned.entries()) pins.put(`k${i}`, candidates, 0, 0);
  const state = { now: 0 };
  const census = new PinCensus({ pins, fleet: registry, clock: () => state.now });
  return { ...bench, registry, pins, state, census };
}

describe('pins of each worker', () => {
  it('are counted a few at a time, beside whatever else there is to do', async () => {
    const { census } = benchOf(Array.from({ length: 2300 }, (_, i) => [urlOf(1 + (i % 2))]));
    expect(census.look()).toBeNull();

    await expect.poll(() => census.look()).not.toBeNull();

    expect(Object.fromEntries(census.look()!.byWorker)).toEqual({ [urlOf(1)]: 1150, [urlOf(2)]: 1150 });
    census.close();
  });

  it('count for the worker that serves the key, or would first', async () => {
    const gone = urlOf(9);
    const { census } = benchOf([[gone, urlOf(2)], [gone], [urlOf(1), urlOf(2)]]);
    census.look();

    expect(Object.fromEntries(census.look()!.byWorker)).toEqual({ [urlOf(2)]: 1, [gone]: 1, [urlOf(1)]: 1 });
  });

  it('are counted again after a pause, and not once it is closed', () => {
    const { census, pins, state } = benchOf([[urlOf(1)]]);
    census.look();
    pins.put('more', [urlOf(1)], 0, 0);
    expect(census.look()?.byWorker.get(urlOf(1))).toBe(1);

    state.now += 5000;
    census.look();
    expect(census.look()?.byWorker.get(urlOf(1))).toBe(2);

    census.close();
    pins.put('and more', [urlOf(1)], 0, 0);
    state.now += 60_000;
    expect(census.look()?.byWorker.get(urlOf(1))).toBe(2);
  });
});
