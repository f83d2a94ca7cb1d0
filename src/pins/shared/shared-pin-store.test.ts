import { describe, expect, it } from 'vitest';
import { promises, SharedPinsBench } from '../../../test/support/shared-pins.ts';
import { pinStoreSuite } from '../pin-store.suite.ts';
import { PinStoreAway } from '../pin-store.ts';

pinStoreSuite('SharedPinStore', (maxPins) => new SharedPinsBench().replica({ maxPins, maxIdleMs: 0 }).store);

/** Never comes to an end. */
const NEVER = (): Promise<void> => new Promise(() => {});

describe('decisions 6: a move', () => {
  it('reaches the other replicas, and only those that hold the key', async () => {
    const bench = new SharedPinsBench();
    const [a, b, c] = [bench.replica(), bench.replica(), bench.replica()];
    await a.store.put('k', ['w1'], 0, 0);
    const held = await b.store.put('k', ['w1'], 0, 0);

    const moved = await b.store.put('k', ['w2', 'w1'], held.version, 0);

    expect(a.store.peek('k')).toEqual(moved);
    expect(c.store.size).toBe(0);
    expect(a.synced).toEqual(['changed']);
  });

  it('loses to one that came first, and follows it', async () => {
    const bench = new SharedPinsBench();
    const [a, b] = [bench.replica(), bench.replica()];
    const pin = await a.store.put('k', ['w1'], 0, 0);
    await b.store.put('k', ['w1'], 0, 0);
    bench.deliver = () => {};
    const winner = await a.store.put('k', ['w2', 'w1'], pin.version, 0);

    expect(await b.store.put('k', ['w3', 'w1'], pin.version, 0)).toEqual(winner);
  });

  it('is not undone by one that arrives later and is older', async () => {
    const bench = new SharedPinsBench();
    const [a, b] = [bench.replica(), bench.replica()];
    const pin = await a.store.put('k', ['w1'], 0, 0);
    await b.store.put('k', ['w1'], 0, 0);
    const moved = await a.store.put('k', ['w2', 'w1'], pin.version, 0);

    b.link.change({ name: bench.names.nameOf('k'), candidates: ['w1'], version: pin.version });

    expect(b.store.peek('k')).toEqual(moved);
  });
});

it('a move of a pin that only this replica knew is not undone by what it was moved from', async () => {
  const bench = new SharedPinsBench();
  const { store, link, backend } = bench.replica();
  link.state = 'down';
  const provisional = await store.put('k', ['w1'], 0, 0);
  backend.before = () => Promise.reject(new Error('gone'));
  link.state = 'up';
  await promises();
  backend.before = () => Promise.resolve();

  const moved = await store.put('k', ['w2', 'w1'], provisional.version, 0);
  await bench.clock.pass(1000);

  expect(moved.candidates).toEqual(['w2', 'w1']);
  expect(store.peek('k')?.candidates).toEqual(['w2', 'w1']);
  expect(bench.stored('k')?.candidates).toEqual(['w2', 'w1']);
});

describe('what is counted', () => {
  it('is no change of another replica that this one has made itself', async () => {
    const bench = new SharedPinsBench();
    const { store, synced } = bench.replica();
    const { version } = await store.put('k', ['w1'], 0, 0);

    await store.put('k', ['w2', 'w1'], version, 0);

    expect(synced).toEqual([]);
  });

  it('is no way given to itself, by a write that was late and carried out', async () => {
    const bench = new SharedPinsBench();
    const { store, backend, synced } = bench.replica();
    backend.after = () => NEVER();
    const late = store.put('k', ['w1'], 0, 0);
    await promises();
    backend.after = () => Promise.resolve();
    await bench.clock.pass(60);

    expect((await late).candidates).toEqual(['w1']);
    expect(store.provisional).toBe(0);
    expect(synced).toEqual(['kept']);
  });
});

it('a failure of ours gives the request a pin all the same', async () => {
  const bench = new SharedPinsBench();
  const { store, link } = bench.replica();
  link.answered = () => {
    throw new Error('a bug');
  };

  expect((await store.put('k', ['w1'], 0, 0)).candidates).toEqual(['w1']);
});

describe('a deleted key', () => {
  it('is forgotten by all', async () => {
    const bench = new SharedPinsBench();
    const [a, b] = [bench.replica(), bench.replica()];
    await a.store.put('k', ['w1'], 0, 0);
    await b.store.put('k', ['w1'], 0, 0);

    expect(await b.store.delete('k')).toBe(true);

    expect(a.store.peek('k')).toBeUndefined();
    expect(b.store.peek('k')).toBeUndefined();
    expect(await a.store.fetch('k')).toBeUndefined();
  });

  it('does not come back by what another replica still holds', async () => {
    const bench = new SharedPinsBench();
    const [a, b] = [bench.replica(), bench.replica()];
    await a.store.put('k', ['w1'], 0, 0);
    await b.store.put('k', ['w1'], 0, 0);
    bench.deliver = () => {};
    await b.store.delete('k');

    a.link.gap();
    await bench.clock.pass(1);

    expect(a.store.peek('k')).toBeUndefined();
    expect(bench.stored('k')?.candidates).toEqual([]);
  });

  it('is none while the store is away', async () => {
    const { store, link } = new SharedPinsBench().replica();
    await store.put('k', ['w1'], 0, 0);
    link.state = 'down';

    await expect(store.delete('k')).rejects.toThrow(PinStoreAway);
    await expect(store.fetch('k')).rejects.toThrow(PinStoreAway);
    expect(store.away).toBe(true);
    expect(store.peek('k')).toBeDefined();
  });
});

describe('sticky-sessions 3.11 a pin that was idle for too long', () => {
  it('is none before it is swept, since another replica may have placed the key anew', async () => {
    const bench = new SharedPinsBench();
    const [a, b] = [bench.replica({ maxIdleMs: 1000 }), bench.replica({ maxIdleMs: 1000 })];
    await a.store.put('k', ['w1'], 0, 0);
    await bench.clock.pass(1500);
    const anew = await b.store.put('k', ['w2'], 0, 1500);

    expect(a.store.peek('k')).toBeUndefined();
    expect(a.store.get('k', 1500)).toBeUndefined();
    expect(await a.store.put('k', ['w3'], 0, 1500)).toEqual(anew);
  });

  it('is not given to a store that has none', async () => {
    const bench = new SharedPinsBench();
    const { store, link } = bench.replica({ maxIdleMs: 1000 });
    await store.put('k', ['w1'], 0, 0);
    await bench.clock.pass(1500);
    expect(bench.stored('k')).toBeNull();

    link.gap();
    await bench.clock.pass(1);

    expect(bench.stored('k')).toBeNull();
    expect(store.size).toBe(0);
  });

  it('lives as long as another replica follows it', async () => {
    const bench = new SharedPinsBench();
    const [a, b] = [bench.replica({ maxIdleMs: 1000 }), bench.replica({ maxIdleMs: 1000 })];
    await a.store.put('k', ['w1'], 0, 0);
    await bench.clock.pass(1150);
    await b.store.put('k', ['w2'], 0, 1150);

    await bench.clock.pass(900);

    expect(bench.stored('k')).toEqual(b.store.peek('k'));
  });
});

describe('interface 3 a reload', () => {
  it('changes the longest wait of requests to come', async () => {
    const bench = new SharedPinsBench();
    const { store, backend } = bench.replica({ claimTimeoutMs: 50 });
    backend.before = NEVER;

    store.configure({ maxIdleMs: 100_000, claimTimeoutMs: 20 });
    const pin = store.put('k', ['w1'], 0, 0);
    await bench.clock.pass(21);
    expect(await pin).toMatchObject({ candidates: ['w1'] });

    store.configure({ maxIdleMs: 100_000, claimTimeoutMs: 0 });
    expect(store.put('l', ['w1'], 0, 21)).toMatchObject({ candidates: ['w1'] });
  });

  it('of something else puts no visit off', async () => {
    const bench = new SharedPinsBench();
    const { store, backend } = bench.replica({ maxIdleMs: 2000 });
    await store.put('k', ['w1'], 0, 0);
    backend.calls.length = 0;
    for (let reloads = 0; reloads < 3; reloads++) {
      await bench.clock.pass(90);
      store.configure({ maxIdleMs: 2000, claimTimeoutMs: 50 });
    }

    expect(backend.calls).not.toHaveLength(0);
  });

  it('changes when idle pins end, here and in the store', async () => {
    const bench = new SharedPinsBench();
    const { store, backend } = bench.replica({ maxIdleMs: 100_000 });
    await store.put('k', ['w1'], 0, 0);

    store.configure({ maxIdleMs: 2000, claimTimeoutMs: 50 });
    await bench.clock.pass(100);

    expect(backend.calls.at(-1)).toBe('touch 2100');
    expect(store.get('k', 2100)).toBeUndefined();
    await store.put('k', ['w1'], 0, 2100);
    store.configure({ maxIdleMs: 0, claimTimeoutMs: 50 });
    expect(store.get('k', 1e9)).toBeDefined();
  });
});
