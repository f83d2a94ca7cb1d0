import { describe, expect, it, vi } from 'vitest';
import { A, B, C, setUpRegistry, specOf } from '../../test/support/registry-bench.ts';
import type { RegistryOptions } from './registry-options.ts';

function setUp(options: RegistryOptions = {}) {
  const bench = setUpRegistry({ dpAware: true, ...options });
  const engine = (id: string, size: number | null, fields: object = {}) => {
    bench.registry.add(specOf(id, fields), 'api');
    bench.registry.ranksAnswered(bench.instance(id), size);
  };
  const status = () => bench.registry.current.workers.map(({ id, status }) => `${id} ${status}`);
  return { ...bench, engine, status };
}

const ids = (base: string, ...ranks: number[]) => ranks.map((rank) => `${base}@${rank}`);

describe('policies 2.4 data-parallel ranks: registration', () => {
  it('an engine is one pending worker until it told its ranks, then one for each, in its place', () => {
    const { registry, engine, order, worker } = setUp();
    for (const url of [A, B, C]) registry.add(specOf(url, { name: 'gpu', labels: { x: '1' }, priority: 7 }), 'flags');
    expect(order()).toEqual([A, B, C]);
    expect(worker(B)).toMatchObject({ rank: null, dpSize: null, status: 'pending', placeable: false });
    const before = registry.current.version;

    registry.ranksAnswered(registry.instance(B)!, 3);

    expect(order()).toEqual([A, ...ids(B, 0, 1, 2), C]);
    expect(worker(`${B}@2`)).toMatchObject({
      url: B,
      rank: 2,
      dpSize: 3,
      name: 'gpu@2',
      address: '10.0.0.2:8000',
      source: 'flags',
      labels: { x: '1' },
      priority: 7,
      status: 'pending',
    });
    expect(registry.current.version).toBe(before + 1);
    expect(registry.current.ranked).toBe(true);
    engine('http://d:1', 2);
    expect(worker('http://d:1@1').name).toBe('http://d:1@1');
  });

  it.each([1, null])('an engine of size %s stays one worker', (size) => {
    const { registry, engine, order, worker, instance } = setUp();
    engine(A, size);

    expect(order()).toEqual([A]);
    expect(worker(A)).toMatchObject({ id: A, url: A, rank: null, dpSize: null, name: A });
    expect(instance(A).awaitsRanks).toBe(false);
    expect(registry.current.ranked).toBe(false);
  });

  it('a declared rank is taken at its word', () => {
    const { registry, instance, worker } = setUp();
    registry.add(specOf(`${A}@3`), 'api');

    expect(worker(`${A}@3`)).toMatchObject({ url: A, rank: 3, dpSize: null });
    expect(instance(`${A}@3`).awaitsRanks).toBe(false);
    registry.ranksAnswered(instance(`${A}@3`), 8);
    expect(registry.current.workers).toHaveLength(1);
  });

  it('nobody is asked without --dp-aware', () => {
    const { registry, instance, order } = setUp({ dpAware: false });
    registry.add(specOf(A), 'api');
    registry.ranksAnswered(instance(A), 4);

    expect([order(), instance(A).awaitsRanks]).toEqual([[A], false]);
  });

  it.each([
    [A, 'http://10.0.0.1:8000/', 'exists'],
    [A, `${A}@1`, 'exists'],
    [`${A}@1`, A, 'exists'],
    [`${A}@1`, `${A}@1`, 'exists'],
    [`${A}@1`, `${A}@0`, 'added'],
    ['http://h', 'http://H:80@2', 'exists'],
  ])('with %s registered, %s: %s', (first, second, kind) => {
    const { registry } = setUp();
    registry.add(specOf(first), 'api');

    expect(registry.add(specOf(second), 'api').kind).toBe(kind);
  });

  it('the observer is told of the answer and of the workers that came of it', () => {
    const told: string[] = [];
    const { engine } = setUp({
      observer: {
        probed: () => {},
        statusChanged: () => {},
        breakerChanged: () => {},
        ranksTold: ({ id }, size) => told.push(`${id} has ${size}`),
        added: ({ id }) => told.push(`+${id}`),
        removed: ({ id }) => told.push(`-${id}`),
      },
    });
    engine(A, 2);
    engine(B, null);

    expect(told).toEqual([`+${A}`, `${A} has 2`, `+${A}@0`, `+${A}@1`, `-${A}`, `+${B}`, `${B} has null`]);
  });

  it('the ranks of one address are found by it and their number', () => {
    const { registry, engine } = setUp();
    engine(A, 2);
    const find = (rank?: number | null) => registry.current.byAddress('10.0.0.1:8000', rank)?.id;

    expect([find(), find(null), find(0), find(1), find(2)]).toEqual([
      `${A}@0`,
      `${A}@0`,
      `${A}@0`,
      `${A}@1`,
      // Not there: the address still is.
      `${A}@0`,
    ]);
    expect(registry.current.byAddress('10.9.9.9:1', 0)).toBeUndefined();
  });
});

describe('an engine that comes back with other ranks', () => {
  it('keeps the workers of the ranks it still has', () => {
    const { registry, engine, instance, order, worker } = setUp();
    engine(A, 2);
    engine(B, 2);
    const kept = instance(`${A}@0`);

    registry.ranksAnswered(instance(`${A}@1`), 4);
    expect(order()).toEqual([...ids(A, 0, 1, 2, 3), ...ids(B, 0, 1)]);
    expect(worker(`${A}@0`).dpSize).toBe(4);
    expect(instance(`${A}@0`)).toBe(kept);

    registry.ranksAnswered(instance(`${A}@3`), 1);
    expect(order()).toEqual([A, ...ids(B, 0, 1)]);

    registry.ranksAnswered(instance(A), 2);
    expect(order()).toEqual([...ids(A, 0, 1), ...ids(B, 0, 1)]);
  });

  it('a rank that is gone takes no requests; one in flight may end', () => {
    vi.useFakeTimers();
    const { registry, engine, instance, begin, end, status } = setUp();
    engine(A, 2);
    begin(`${A}@1`);

    registry.ranksAnswered(instance(`${A}@0`), 1);
    expect(status()).toEqual([`${A} pending`, `${A}@1 draining`]);
    end(`${A}@1`);
    vi.advanceTimersByTime(100);
    expect(registry.current.workers.map(({ id }) => id)).toEqual([A]);
    vi.useRealTimers();
  });

  it('nothing changes, and no snapshot is made, when the number is the same', () => {
    const { registry, engine, instance } = setUp();
    engine(A, 3);
    registry.remove(`${A}@1`);
    const { version } = registry.current;

    for (const id of ids(A, 0, 2)) registry.ranksAnswered(instance(id), 3);

    expect(registry.current.version).toBe(version);
  });
});

describe('changes by id', () => {
  it('the base URL means all ranks, an id one of them', () => {
    const { registry, engine, worker, order } = setUp();
    engine(A, 2);
    engine(B, 2);

    expect(registry.named(A).map(({ id }) => id)).toEqual(ids(A, 0, 1));
    expect(registry.named(`${A}@1`).map(({ id }) => id)).toEqual([`${A}@1`]);

    registry.update(specOf(A, { cost: 2 }));
    registry.update(specOf(`${A}@1`, { cost: 3 }));
    expect(ids(A, 0, 1).map((id) => worker(id).cost)).toEqual([2, 3]);

    registry.replace(specOf(A, { cost: 4 }));
    expect(order()).toEqual([...ids(B, 0, 1), ...ids(A, 0, 1)]);
    expect(ids(A, 0, 1).map((id) => worker(id).cost)).toEqual([4, 4]);

    expect([registry.drain(A), worker(`${A}@0`).status, worker(`${A}@1`).status]).toEqual([
      'ok',
      'draining',
      'draining',
    ]);
    expect([registry.undrain(`${A}@1`), worker(`${A}@0`).status, worker(`${A}@1`).status]).toEqual([
      'ok',
      'draining',
      'pending',
    ]);
    expect([registry.remove(`${B}@0`), order()]).toEqual(['removed', [`${B}@1`, ...ids(A, 0, 1)]]);
    expect([registry.remove(A), order()]).toEqual(['removed', [`${B}@1`]]);
    expect([registry.remove(A), registry.drain(A), registry.undrain(A)]).toEqual(['unknown', 'unknown', 'unknown']);
  });

  it('a drain that began before the ranks were known goes on', () => {
    const { registry, instance, worker } = setUp();
    registry.add(specOf(A), 'api');
    registry.drain(A);
    registry.ranksAnswered(instance(A), 2);

    expect(ids(A, 0, 1).map((id) => worker(id).status)).toEqual(['draining', 'draining']);
    registry.close();
  });
});

describe('a source that is read again', () => {
  it('knows its engines in all their ranks', () => {
    const { registry, instance, order, worker } = setUp();
    registry.replaceSource('file', [specOf(A), specOf(B)]);
    registry.ranksAnswered(instance(A), 2);
    registry.ranksAnswered(instance(B), 2);
    const first = instance(`${A}@0`);
    const { version } = registry.current;

    const nothing = registry.replaceSource('file', [specOf(A), specOf(B)]);
    expect(nothing).toEqual({ added: [], updated: [], removed: [], conflicts: [] });
    expect(registry.current.version).toBe(version);

    const renamed = registry.replaceSource('file', [specOf(A, { name: 'a' }), specOf(C)]);
    expect(renamed).toEqual({ added: [C], updated: ids(A, 0, 1), removed: ids(B, 0, 1), conflicts: [] });
    expect([order(), worker(`${A}@1`).name]).toEqual([[...ids(A, 0, 1), C], 'a@1']);
    expect(instance(`${A}@0`)).toBe(first);
  });

  it('brings back a rank that was removed by hand', () => {
    const { registry, instance, order } = setUp();
    registry.replaceSource('flags', [specOf(A)]);
    registry.ranksAnswered(instance(A), 3);
    registry.remove(`${A}@1`);

    expect(registry.replaceSource('flags', [specOf(A)])).toEqual({
      added: [`${A}@1`],
      updated: [],
      removed: [],
      conflicts: [],
    });
    expect(order()).toEqual(ids(A, 0, 1, 2));
  });

  it('an engine of another source, or a part of one, is a conflict', () => {
    const { registry, engine } = setUp();
    engine(A, 2);
    registry.add(specOf(`${B}@1`), 'api');

    const { added, conflicts } = registry.replaceSource('file', [
      specOf(A),
      specOf(`${A}@1`),
      specOf(B),
      specOf(`${B}@0`),
    ]);

    expect([added, conflicts]).toEqual([[`${B}@0`], [A, `${A}@1`, B]]);
  });

  it('a rank declared by hand in the place of a removed one stays what it is', () => {
    const { registry, instance, order, worker } = setUp();
    registry.replaceSource('file', [specOf(A)]);
    registry.ranksAnswered(instance(A), 2);
    registry.remove(`${A}@1`);
    registry.add(specOf(`${A}@1`, { name: 'mine' }), 'api');

    registry.replaceSource('file', [specOf(A, { name: 'file' })]);

    expect(order()).toEqual(ids(A, 0, 1));
    expect(ids(A, 0, 1).map((id) => [worker(id).source, worker(id).name])).toEqual([
      ['file', 'file@0'],
      ['api', 'mine@1'],
    ]);
  });
});
