import { describe, expect, it } from 'vitest';
import { ModelPinBackend, ModelPins } from '../../../test/support/model-pin-backend.ts';
import { pinBackendSuite } from './pin-backend.suite.ts';
import type { PinChange } from './pin-backend.ts';

const START = Date.now();

pinBackendSuite('the model', async () => {
  const changes: PinChange[] = [];
  let now = START;
  let names = 0;
  const pins = new ModelPins(
    () => now,
    (change) => changes.push(change),
  );
  return {
    backend: new ModelPinBackend(pins),
    newName: () => `name-${names++}`,
    published: async (name) => changes.filter((change) => change.name === name),
    msLeft: async (name) => {
      if (pins.read(name) === null) return null;
      const left = [1000, 100_000, 3_600_000, 1e15].find((ms) => endsWithin(pins, name, ms));
      return left === undefined || left === 1e15 ? Number.POSITIVE_INFINITY : left;
    },
    expire: async () => {
      now += 1_000_000;
    },
    close: async () => {},
  };

  function endsWithin(store: ModelPins, name: string, ms: number): boolean {
    const copy = store.copy();
    const before = now;
    now += ms + 1;
    const gone = store.read(name) === null;
    now = before;
    store.restore(copy);
    return gone;
  }
});

describe('ModelPins', () => {
  function model() {
    const clock = { now: START };
    const changes: PinChange[] = [];
    const pins = new ModelPins(
      () => clock.now,
      (change) => changes.push(change),
    );
    return { clock, changes, pins };
  }

  it('gives microseconds of its clock as versions, or one more than the last when the clock is behind', () => {
    const { clock, pins } = model();

    const first = pins.put('k', ['a'], 0, 0);
    clock.now -= 5000;
    const second = pins.put('k', ['b'], first.version, 0);

    expect(first.version).toBe(START * 1000);
    expect(second.version).toBe(START * 1000 + 1);
  });

  it('forgets on its clock', () => {
    const { clock, pins } = model();
    pins.put('k', ['a'], 0, 1000);
    pins.put('stays', ['a'], 0, 0);

    clock.now += 1000;
    expect(pins.size).toBe(2);
    clock.now += 1;
    expect(pins.size).toBe(1);
    expect(pins.read('k')).toBeNull();
  });

  it('can lose everything, one key, and the last writes', () => {
    const { pins } = model();
    const first = pins.put('k', ['a'], 0, 0);
    const copy = pins.copy();
    pins.put('k', ['b'], first.version, 0);
    pins.put('later', ['b'], 0, 0);

    pins.restore(copy);
    expect(pins.read('k')?.candidates).toEqual(['a']);
    expect(pins.read('later')).toBeNull();
    expect(pins.evict('k')).toBe(true);
    expect(pins.read('k')).toBeNull();
    pins.restore(copy);
    pins.wipe();
    expect(pins.size).toBe(0);
  });
});
