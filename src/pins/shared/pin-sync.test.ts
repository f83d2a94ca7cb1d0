import { describe, expect, it } from 'vitest';
import { promises, SharedPinsBench } from '../../../test/support/shared-pins.ts';

describe('a pin that only this replica knows', () => {
  it('is given to the store when that is back', async () => {
    const bench = new SharedPinsBench();
    const { store, link, synced } = bench.replica();
    link.state = 'down';
    await store.put('k', ['w1'], 0, 0);
    await bench.clock.pass(1000);
    expect(bench.stored('k')).toBeNull();

    link.state = 'up';
    await bench.clock.pass(1);

    expect(bench.stored('k')).toEqual(store.peek('k'));
    expect(store.provisional).toBe(0);
    expect(synced).toEqual(['kept']);
  });

  it('gives way to what the store has got meanwhile', async () => {
    const bench = new SharedPinsBench();
    const [a, b] = [bench.replica(), bench.replica()];
    a.link.state = 'down';
    await a.store.put('k', ['w1'], 0, 0);
    const winner = await b.store.put('k', ['w2'], 0, 0);

    a.link.state = 'up';
    await bench.clock.pass(1);

    expect(a.store.peek('k')).toEqual(winner);
    expect(a.synced).toEqual(['gave_way']);
  });

  it('is written behind while the store is slow', async () => {
    const bench = new SharedPinsBench();
    const { store, link } = bench.replica();
    link.state = 'slow';
    await store.put('k', ['w1'], 0, 0);

    await bench.clock.pass(1);

    expect(bench.stored('k')).toEqual(store.peek('k'));
  });

  it('stays as it was moved while its first place was told', async () => {
    const bench = new SharedPinsBench();
    const { store, link, backend } = bench.replica();
    link.state = 'slow';
    const pin = await store.put('k', ['w1'], 0, 0);
    let arrive = (): void => {};
    backend.after = () =>
      new Promise((resolve) => {
        arrive = resolve;
      });
    await bench.clock.pass(0);
    await store.put('k', ['w2', 'w1'], pin.version, 1);

    backend.after = () => Promise.resolve();
    arrive();
    await bench.clock.pass(1);

    expect(store.peek('k')?.candidates).toEqual(['w2', 'w1']);
    expect(bench.stored('k')).toEqual(store.peek('k'));
  });

  it('is tried again when the store fails and its state says nothing', async () => {
    const bench = new SharedPinsBench();
    const { store, backend } = bench.replica();
    backend.before = () => Promise.reject(new Error('OOM'));
    await store.put('k', ['w1'], 0, 0);
    await bench.clock.pass(10);

    backend.before = () => Promise.resolve();
    await bench.clock.pass(300);

    expect(bench.stored('k')).toEqual(store.peek('k'));
  });

  it('rests after a failure, however much there is to tell, until the state is another one', async () => {
    const bench = new SharedPinsBench();
    const { store, link, backend } = bench.replica();
    link.state = 'slow';
    backend.before = () => Promise.reject(new Error('NOPERM'));
    for (let i = 0; i < 20; i++) {
      void store.put(`k${i}`, ['w1'], 0, 0);
      await bench.clock.pass(1);
    }
    expect(backend.calls).toHaveLength(1);

    backend.before = () => Promise.resolve();
    link.state = 'up';
    await promises();

    expect(store.provisional).toBe(0);
  });
});

describe('a part of the store that is away', () => {
  it('holds nothing back of the pins of the rest', async () => {
    const bench = new SharedPinsBench();
    const { store, link, backend } = bench.replica();
    link.state = 'down';
    for (let i = 0; i < 300; i++) await store.put(`dead-${i}`, ['dead'], 0, i);
    for (let i = 0; i < 300; i++) await store.put(`k${i}`, ['w1'], 0, 300 + i);
    backend.before = () =>
      backend.calls.at(-1)?.startsWith('put dead') ? Promise.reject(new Error('gone')) : Promise.resolve();

    link.state = 'up';
    await bench.clock.pass(2000);

    for (let i = 0; i < 300; i++) expect(bench.stored(`k${i}`)).not.toBeNull();
    expect(store.provisional).toBe(300);
    // Nor does it keep new keys from the rest.
    expect(link.failures).toBe(0);
  });

  it('holds nothing back of what is compared', async () => {
    const bench = new SharedPinsBench();
    const { store, link, backend } = bench.replica();
    for (let i = 0; i < 300; i++) await store.put(`k${i}`, ['w1'], 0, i);
    let calls = 0;
    backend.before = () => (calls++ % 2 === 0 ? Promise.reject(new Error('gone')) : Promise.resolve());
    bench.pins.wipe();

    link.gap();
    await bench.clock.pass(20_000);

    expect(bench.pins.size).toBe(300);
  });
});

describe('after a gap', () => {
  it('takes over the moves that were missed', async () => {
    const bench = new SharedPinsBench();
    const [a, b] = [bench.replica(), bench.replica()];
    const pin = await a.store.put('k', ['w1'], 0, 0);
    await b.store.put('k', ['w1'], 0, 0);
    bench.deliver = () => {};
    const moved = await a.store.put('k', ['w2', 'w1'], pin.version, 0);
    expect(b.store.peek('k')?.candidates).toEqual(['w1']);

    b.link.gap();
    await bench.clock.pass(1);

    expect(b.store.peek('k')).toEqual(moved);
  });

  it('gives back what the store has lost, and never an older pin over a newer one', async () => {
    const bench = new SharedPinsBench();
    const [a, b] = [bench.replica(), bench.replica()];
    const pin = await a.store.put('k', ['w1'], 0, 0);
    await b.store.put('k', ['w1'], 0, 0);
    bench.deliver = () => {};
    const moved = await b.store.put('k', ['w2', 'w1'], pin.version, 0);
    bench.pins.wipe();
    bench.deliver = (change) => {
      for (const { link } of bench.replicas) link.change(change);
    };

    a.link.gap();
    await bench.clock.pass(1);
    expect(bench.stored('k')?.candidates).toEqual(['w1']);
    b.link.gap();
    await bench.clock.pass(1);

    expect(bench.stored('k')).toEqual(moved);
    expect(a.store.peek('k')).toEqual(moved);
  });

  it('takes what the store holds where two moves got one version, since its clock stepped back', async () => {
    const bench = new SharedPinsBench();
    const [a, b] = [bench.replica(), bench.replica()];
    bench.clock.now = 1000;
    const pin = await a.store.put('k', ['w1'], 0, 1000);
    await b.store.put('k', ['w1'], 0, 1000);
    bench.deliver = () => {};
    bench.clock.now = 500;
    const before = bench.pins.copy();
    const lost = await a.store.put('k', ['w2', 'w1'], pin.version, 500);
    bench.pins.restore(before);
    const moved = await b.store.put('k', ['w3', 'w1'], pin.version, 500);
    expect(moved.version).toBe(lost.version);

    a.link.gap();
    await bench.clock.pass(1);

    expect(a.store.peek('k')).toEqual(moved);
  });

  it('does not count a pin as lost that was moved while it was compared', async () => {
    const bench = new SharedPinsBench();
    const [a, b] = [bench.replica(), bench.replica()];
    const pin = await a.store.put('k', ['w1'], 0, 0);
    await b.store.put('k', ['w1'], 0, 0);
    let arrive = (): void => {};
    a.backend.after = () =>
      new Promise((resolve) => {
        arrive = resolve;
      });
    a.link.gap();
    await promises();
    await b.store.put('k', ['w2', 'w1'], pin.version, 1);

    a.backend.after = () => Promise.resolve();
    arrive();
    await promises();

    expect(a.synced).toEqual(['changed', 'refreshed']);
  });

  it('compares all pins, also many, and those used on the way', async () => {
    const bench = new SharedPinsBench();
    const { store, link } = bench.replica();
    for (let i = 0; i < 600; i++) await store.put(`k${i}`, ['w1'], 0, i);
    bench.pins.wipe();
    bench.clock.now = 1000;

    link.gap();
    for (let i = 0; i < 600; i += 3) store.get(`k${i}`, 1001);
    await bench.clock.pass(10);

    expect(bench.pins.size).toBe(600);
  });

  it('goes on where it was when a call fails', async () => {
    const bench = new SharedPinsBench();
    const { store, link, backend } = bench.replica();
    for (let i = 0; i < 300; i++) await store.put(`k${i}`, ['w1'], 0, i);
    bench.pins.wipe();
    let calls = 0;
    backend.before = () => (++calls === 150 ? Promise.reject(new Error('gone')) : Promise.resolve());

    link.gap();
    await bench.clock.pass(300);

    expect(bench.pins.size).toBe(300);
  });
});

describe('sticky-sessions 3.11 idle time in the store', () => {
  it('goes on with each use, a visit at a time', async () => {
    const bench = new SharedPinsBench();
    const { store, backend } = bench.replica({ maxIdleMs: 100_000 });
    await store.put('k', ['w1'], 0, 0);
    expect(backend.calls).toEqual(['put w1 0 110000']);

    for (let i = 0; i < 400; i++) {
      store.get('k', bench.clock.now);
      await bench.clock.pass(500);
    }

    expect(bench.stored('k')).not.toBeNull();
    // Two hundred seconds at a visit each five.
    expect(backend.calls.filter((call) => call.startsWith('touch'))).toHaveLength(40);
  });

  it('goes on with a use during a claim that began before the visit', async () => {
    const bench = new SharedPinsBench();
    const { store, backend } = bench.replica({ maxIdleMs: 2000 });
    await store.put('k', ['w1'], 0, 0);
    await bench.clock.pass(95);
    let arrive = (): void => {};
    backend.after = () =>
      new Promise((resolve) => {
        arrive = resolve;
      });
    const claim = store.put('new', ['w1'], 0, 95);
    await bench.clock.pass(1);
    backend.after = () => Promise.resolve();
    await bench.clock.pass(6);
    store.get('k', 102);
    arrive();
    await claim;
    backend.calls.length = 0;

    await bench.clock.pass(100);

    // What is left of its time at 200 ms, and two visits.
    expect(backend.calls).toContain('touch 2102');
  });

  it('goes on with a use during a claim that was decided late, after a pause of the process', async () => {
    const bench = new SharedPinsBench();
    const { store, backend } = bench.replica({ maxIdleMs: 10_000, claimTimeoutMs: 50 });
    await store.put('k', ['w1'], 0, 0);
    backend.before = () => new Promise(() => {});
    const claim = Promise.resolve(store.put('new', ['w1'], 0, 390));
    backend.before = () => Promise.resolve();
    bench.clock.now = 490;
    await bench.clock.pass(15);
    store.get('k', 505);
    await bench.clock.pass(10);
    await claim;
    backend.calls.length = 0;

    await bench.clock.pass(485);

    // What is left of its time at 1000 ms, and two visits.
    expect(backend.calls).toContain('touch 10505');
  });

  it('is told once for each pin when a visit takes longer than the time to the next', async () => {
    const bench = new SharedPinsBench();
    const { store, backend } = bench.replica({ maxIdleMs: 2000 });
    for (let i = 0; i < 300; i++) await store.put(`k${i}`, ['w1'], 0, 0);
    let arrive = (): void => {};
    const held = new Promise<void>((resolve) => {
      arrive = resolve;
    });
    backend.before = () => held;
    backend.calls.length = 0;
    for (let visit = 1; visit <= 5; visit++) {
      for (let i = 0; i < 300; i++) store.get(`k${i}`, bench.clock.now);
      await bench.clock.pass(100);
    }

    arrive();
    await promises();

    expect(backend.calls).toHaveLength(300);
  });

  it('is told of each of very many pins, and of no other', async () => {
    const bench = new SharedPinsBench();
    const { store, backend, link } = bench.replica({ maxPins: 20_000 });
    link.state = 'slow';
    for (let i = 0; i < 9000; i++) void store.put(`k${i}`, ['w1'], 0, 0);
    await bench.clock.pass(5000);
    await bench.clock.pass(15_000);
    backend.calls.length = 0;
    for (let i = 0; i < 9000; i += 2) store.get(`k${i}`, bench.clock.now);

    await bench.clock.pass(10_000);

    expect(backend.calls).toHaveLength(4500);
  });

  it('is told of pins in use also while very many are compared', async () => {
    const bench = new SharedPinsBench();
    const { store, backend, link } = bench.replica({ maxPins: 20_000 });
    for (let i = 0; i < 9000; i++) void store.put(`k${i}`, ['w1'], 0, 0);
    await bench.clock.pass(20_000);
    for (let i = 0; i < 9000; i++) store.get(`k${i}`, bench.clock.now);
    backend.calls.length = 0;

    link.gap();
    await bench.clock.pass(10_000);

    expect(backend.calls.length).toBeGreaterThanOrEqual(9000);
    backend.calls.length = 0;
    await bench.clock.pass(10_000);
    expect(backend.calls).toHaveLength(0);
  });

  it('does not go on with what is told to the store after an outage', async () => {
    const bench = new SharedPinsBench();
    const { store, link } = bench.replica({ maxIdleMs: 2000 });
    link.state = 'down';
    await store.put('k', ['w1'], 0, 0);
    await store.put('old', ['w1'], 0, 0);
    await bench.clock.pass(1500);
    store.touch('k', 1500);
    await bench.clock.pass(1000);

    link.state = 'up';
    await bench.clock.pass(500);

    expect(bench.stored('old')).toBeNull();
    expect(bench.stored('k')).not.toBeNull();
    expect(store.sweep(bench.clock.now + 500, 2000)).toBe(1);
  });

  it('ends a little after that of the last replica that used it', async () => {
    const bench = new SharedPinsBench();
    const { store } = bench.replica({ maxIdleMs: 100_000 });
    await store.put('k', ['w1'], 0, 0);
    await bench.clock.pass(99_000);
    store.touch('k', bench.clock.now);
    await bench.clock.pass(100_000);
    expect(bench.stored('k')).not.toBeNull();

    await bench.clock.pass(20_000);

    expect(bench.stored('k')).toBeNull();
  });

  it('is none without a limit', async () => {
    const bench = new SharedPinsBench();
    const { store, backend } = bench.replica({ maxIdleMs: 0 });

    await store.put('k', ['w1'], 0, 0);

    expect(backend.calls).toEqual(['put w1 0 0']);
  });
});
