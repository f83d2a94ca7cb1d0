import { describe, expect, it } from 'vitest';
import { SharedPinsBench } from '../../../test/support/shared-pins.ts';

describe('versions of a store whose clock was wrong', () => {
  const HOURS = 3_600_000;

  /** Two replicas: a key that began at one while the clock of the store was ahead by so much, which it is no more. */
  async function corrected(hours: number) {
    const bench = new SharedPinsBench();
    const [a, b] = [bench.replica({ maxIdleMs: 0 }), bench.replica({ maxIdleMs: 0 })];
    bench.storeAheadMs = hours * HOURS;
    await a.store.put('k', ['w1'], 0, 0);
    bench.storeAheadMs = 0;
    bench.pins.wipe();
    return { bench, a, b };
  }

  it.each([20, 25, 48])('%i hours ahead: replicas agree when it is right and has lost its data', async (hours) => {
    const { bench, a, b } = await corrected(hours);

    await b.store.put('k', ['w2'], 0, 0);
    for (const { link } of [a, b]) link.gap();
    await bench.clock.pass(1000);

    expect(a.store.peek('k')).toEqual(b.store.peek('k'));
    expect(bench.stored('k')).toEqual(a.store.peek('k'));
    expect(a.store.provisional).toBe(0);
  });

  it.each([20, 25, 48])('%i hours ahead: a move by the one or the other holds at both', async (hours) => {
    const { bench, a, b } = await corrected(hours);
    for (const { link } of [a, b]) link.gap();
    await bench.clock.pass(1000);
    await b.store.put('k', ['w2'], 0, bench.clock.now);

    for (const [by, worker] of [
      [a, 'w3'],
      [b, 'w4'],
    ] as const) {
      await by.store.put('k', [worker], by.store.peek('k')!.version, bench.clock.now);

      expect(a.store.peek('k')?.candidates).toEqual([worker]);
      expect(b.store.peek('k')?.candidates).toEqual([worker]);
    }
  });

  it('are moved at once, before they were compared', async () => {
    const { bench, a } = await corrected(48);

    await a.store.put('k', ['w3'], a.store.peek('k')!.version, 0);
    await bench.clock.pass(1);

    expect(a.store.peek('k')).toEqual(bench.stored('k'));
    expect(bench.stored('k')?.candidates).toEqual(['w3']);
  });

  it('are no news when they are forged, and no answer', async () => {
    const bench = new SharedPinsBench();
    const { store, link } = bench.replica();
    const pin = await store.put('k', ['w1'], 0, 0);

    link.change({ name: bench.names.nameOf('k'), candidates: ['forged'], version: 9_007_199_254_740_991 });

    expect(store.peek('k')).toEqual(pin);
    expect(await store.fetch('k')).toEqual(pin);
  });
});
