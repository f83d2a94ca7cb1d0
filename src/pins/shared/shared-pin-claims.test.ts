import { describe, expect, it } from 'vitest';
import { promises, SharedPinsBench } from '../../../test/support/shared-pins.ts';

/** Never comes to an end. */
const NEVER = (): Promise<void> => new Promise(() => {});

describe('decisions 6: a new key', () => {
  it('goes where another replica has put it', async () => {
    const bench = new SharedPinsBench();
    const [a, b] = [bench.replica(), bench.replica()];
    await a.store.put('k', ['w1'], 0, 0);

    const pin = await b.store.put('k', ['w2'], 0, 0);

    expect(pin.candidates).toEqual(['w1']);
    expect(b.store.peek('k')).toEqual(pin);
    expect([a.asked, b.asked]).toEqual([['won'], ['followed']]);
  });

  it('is asked for once, however many requests of this process need it', async () => {
    const bench = new SharedPinsBench();
    const { store, backend } = bench.replica();

    const pins = await Promise.all(['w1', 'w2', 'w3'].map((worker) => store.put('k', [worker], 0, 0)));

    expect(new Set(pins.map(({ candidates }) => candidates.join()))).toEqual(new Set(['w1']));
    expect(backend.calls).toHaveLength(1);
  });

  it('waits no longer than the bound, and is decided here', async () => {
    const bench = new SharedPinsBench();
    const { store, backend, link, asked } = bench.replica({ claimTimeoutMs: 50 });
    backend.before = NEVER;
    let pin: unknown;
    void Promise.resolve(store.put('k', ['w1'], 0, 0)).then((given) => {
      pin = given;
    });

    await bench.clock.pass(49);
    expect(pin).toBeUndefined();
    await bench.clock.pass(2);

    expect(pin).toMatchObject({ candidates: ['w1'] });
    expect(store.get('k', 51)).toEqual(pin);
    expect(store.provisional).toBe(1);
    expect(link.failures).toBe(1);
    expect(asked).toEqual(['late']);
  });

  it('gets half of the bound more where the process itself was held up, and no more than once', async () => {
    const bench = new SharedPinsBench();
    const { store, backend, asked } = bench.replica({ claimTimeoutMs: 50 });
    backend.before = NEVER;
    void store.put('never answered', ['w1'], 0, 0);
    backend.before = () => new Promise((go) => bench.clock.after(190, go));
    void store.put('answered after the pause', ['w1'], 0, 0);

    bench.clock.now = 180;
    await bench.clock.pass(20);
    expect(asked).toEqual(['won']);

    bench.clock.now = 300;
    await bench.clock.pass(0);
    expect(asked).toEqual(['won', 'late']);
  });

  it('is one sign of trouble when it is late, whatever comes of it then', async () => {
    const bench = new SharedPinsBench();
    const { store, backend, link } = bench.replica({ claimTimeoutMs: 50 });
    const ends: { readonly answer: () => void; readonly fail: (error: Error) => void }[] = [];
    backend.before = () => new Promise((answer, fail) => ends.push({ answer, fail }));
    void store.put('answered', ['w1'], 0, 0);
    void store.put('failed', ['w1'], 0, 0);
    await bench.clock.pass(51);
    expect(link.failures).toBe(2);
    backend.before = NEVER;

    await bench.clock.pass(60);
    ends[0]!.answer();
    ends[1]!.fail(new Error('closed'));
    await promises();

    expect(link.failures).toBe(2);
    expect(link.waits).toEqual([]);
  });

  it('counts the wait from the start of the request, whatever it did before', async () => {
    const bench = new SharedPinsBench();
    const { store, backend } = bench.replica({ claimTimeoutMs: 50 });
    backend.before = NEVER;
    bench.clock.now = 40;
    let given = 0;
    void Promise.resolve(store.put('new', ['w1'], 0, 40)).then(() => given++);
    void Promise.resolve(store.put('again', ['w1'], 0, 0)).then(() => given++);

    await bench.clock.pass(10);
    expect(given).toBe(1);
    await bench.clock.pass(40);
    expect(given).toBe(2);
  });

  it.each(['slow', 'down'] as const)('does not wait at all while the store is %s', (state) => {
    const { store, link, asked } = new SharedPinsBench().replica();
    link.state = state;

    expect(store.put('k', ['w1'], 0, 0)).toMatchObject({ candidates: ['w1'] });
    expect(asked).toEqual(['behind']);
  });

  it('is decided here at once when the store refuses', async () => {
    const { store, backend, link, asked } = new SharedPinsBench().replica();
    backend.before = () => Promise.reject(new Error('READONLY'));

    expect(await store.put('k', ['w1'], 0, 0)).toMatchObject({ candidates: ['w1'] });
    expect(link.failures).toBeGreaterThan(0);
    expect(asked).toEqual(['failed']);
  });

  it('stays forgotten when a late answer knows it from before it was deleted', async () => {
    const bench = new SharedPinsBench();
    const { store, backend } = bench.replica();
    const answers: (() => void)[] = [];
    backend.after = () => new Promise((resolve) => answers.push(resolve));
    const late = store.put('k', ['w1'], 0, 0);
    await bench.clock.pass(60);
    const moved = store.put('k', ['w2'], (await late).version, 60);
    bench.pins.remove(bench.names.nameOf('k'));
    expect(store.peek('k')).toBeUndefined();

    answers[0]!();
    await promises();

    expect(store.peek('k')).toBeUndefined();
    for (const answer of answers) answer();
    await moved;
  });

  it('goes where it was moved to while it waited too long', async () => {
    const bench = new SharedPinsBench();
    const [a, b] = [bench.replica(), bench.replica()];
    const first = await a.store.put('k', ['w1'], 0, 0);
    b.backend.before = NEVER;
    const late = b.store.put('k', ['w2'], 0, 0);
    const moved = await a.store.put('k', ['w3', 'w1'], first.version, 0);

    await bench.clock.pass(60);

    expect(await late).toEqual(moved);
    expect(b.store.peek('k')).toEqual(moved);
    expect(b.store.provisional).toBe(0);
  });

  it('is decided here after a deletion that came while it waited too long, and not by what was before', async () => {
    const bench = new SharedPinsBench();
    const [a, b] = [bench.replica(), bench.replica()];
    const first = await a.store.put('k', ['w1'], 0, 0);
    b.backend.before = NEVER;
    const late = b.store.put('k', ['w2'], 0, 0);
    await a.store.delete('k');
    await bench.clock.pass(60);

    b.link.change({ name: bench.names.nameOf('k'), ...first });

    expect(b.store.peek('k')).toEqual(await late);
    expect((await late).candidates).toEqual(['w2']);
  });

  it('goes where a later request of this process was sent while it waited', async () => {
    const bench = new SharedPinsBench();
    const { store, backend, link } = bench.replica();
    backend.before = NEVER;
    const first = store.put('k', ['w1'], 0, 0);
    link.state = 'down';
    const second = store.put('k', ['w2'], 0, 10);

    await bench.clock.pass(60);

    expect(second).toMatchObject({ candidates: ['w2'] });
    expect(await first).toEqual(second);
    expect(store.peek('k')).toEqual(second);
  });

  it('takes over the late answer when another replica was first', async () => {
    const bench = new SharedPinsBench();
    const [a, b] = [bench.replica(), bench.replica()];
    await a.store.put('k', ['w1'], 0, 0);
    let arrive = (): void => {};
    b.backend.after = () =>
      new Promise((resolve) => {
        arrive = resolve;
      });
    const late = b.store.put('k', ['w2'], 0, 0);
    b.link.state = 'down';
    await bench.clock.pass(60);
    expect((await late).candidates).toEqual(['w2']);

    arrive();
    await promises();

    expect(b.store.peek('k')).toEqual(a.store.peek('k'));
    expect(b.store.provisional).toBe(0);
  });

  it('takes a change that was told before its answer', async () => {
    const bench = new SharedPinsBench();
    const [a, b] = [bench.replica(), bench.replica()];
    const first = await a.store.put('k', ['w1'], 0, 0);
    let arrive = (): void => {};
    b.backend.after = () =>
      new Promise((resolve) => {
        arrive = resolve;
      });
    const claim = b.store.put('k', ['w2'], 0, 0);
    await promises();
    await a.store.put('k', ['w3', 'w1'], first.version, 0);

    arrive();

    expect((await claim).candidates).toEqual(['w3', 'w1']);
    expect(b.store.peek('k')).toEqual(a.store.peek('k'));
  });
});
