import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeWorker } from '../../test/support/fleet.ts';
import { FleetSnapshot } from './fleet-snapshot.ts';
import type { FleetEntry } from './model-pools.ts';
import type { Worker } from './worker.ts';

const known = (worker: Worker): FleetEntry => ({ worker, modelsKnown: true });
const asking = (id: string): FleetEntry => ({
  worker: makeWorker(id, { status: 'pending', placeable: false, keepsPins: false }),
  modelsKnown: false,
});
const serving = (id: string, ...models: string[]) => known(makeWorker(id, { models }));
const of = (...entries: FleetEntry[]) => FleetSnapshot.after(FleetSnapshot.empty, entries);
const ids = (snapshot: FleetSnapshot, model: string) => snapshot.pool(model)?.members.map((worker) => worker.id);

describe('policies 2.4, decisions 18 and 37 pools', () => {
  const mixed = of(serving('a', 'x', 'y'), serving('b', 'y'), serving('any'), serving('c', 'x'));

  it.each<[string, string[]]>([
    ['x', ['a', 'any', 'c']],
    ['y', ['a', 'b', 'any']],
    ['never heard of', ['any']],
    ['', ['a', 'b', 'any', 'c']],
    ['unknown', ['a', 'b', 'any', 'c']],
  ])('model %j: who lists it or lists nothing, in registration order', (model, expected) => {
    expect(ids(mixed, model)).toEqual(expected);
  });

  it('takes a request without a model anywhere, also where some worker lists a model of the name unknown', () => {
    const snapshot = of(serving('a', 'x'), serving('b', 'unknown'));

    expect(ids(snapshot, '')).toEqual(['a', 'b']);
    expect(ids(snapshot, 'unknown')).toEqual(['b']);
  });

  it('names the pool by its model, and by unknown without one', () => {
    expect(['x', 'never heard of', ''].map((model) => mixed.pool(model)?.model)).toEqual([
      'x',
      'never heard of',
      'unknown',
    ]);
  });

  it('has no pool for a model that nobody serves', () => {
    expect(of(serving('a', 'x')).pool('y')).toBeUndefined();
    expect(FleetSnapshot.empty.pool('y')).toBeUndefined();
  });

  it('has a pool without a model even with no workers', () => {
    expect(FleetSnapshot.empty.pool('')).toEqual({ model: 'unknown', members: [], memberIds: [], available: [] });
  });

  it('keeps a worker that was not asked yet out of listed models, but does not deny a model it might serve', () => {
    const snapshot = of(serving('a', 'x'), asking('b'));

    expect(ids(snapshot, 'x')).toEqual(['a']);
    expect(ids(snapshot, 'y')).toEqual(['b']);
    expect(snapshot.pool('y')?.available).toEqual([]);
    expect(ids(snapshot, '')).toEqual(['a', 'b']);
  });

  it('keeps sick workers as members, but not available', () => {
    const snapshot = of(
      serving('a', 'x'),
      known(makeWorker('b', { models: ['x'], status: 'not_ready', placeable: false })),
    );

    expect(ids(snapshot, 'x')).toEqual(['a', 'b']);
    expect(snapshot.pool('x')?.available.map((worker) => worker.id)).toEqual(['a']);
  });

  it('takes only regular workers into pools', () => {
    const snapshot = of(serving('a', 'x'), known(makeWorker('p', { type: 'prefill', models: ['x'] })));

    expect(ids(snapshot, 'x')).toEqual(['a']);
    expect(ids(snapshot, '')).toEqual(['a']);
    expect(snapshot.byId('p')?.id).toBe('p');
  });
});

describe('pools of many models', () => {
  it('hold in each who lists the model or serves any, in registration order, whatever the fleet', () => {
    const lists = fc.array(fc.constantFrom('w', 'x', 'y', 'z'), { maxLength: 5 });
    const fleet = fc.array(fc.record({ models: lists, modelsKnown: fc.boolean() }), { maxLength: 12 });

    fc.assert(
      fc.property(fleet, (workers) => {
        const entries = workers.map(({ models, modelsKnown }, index) => ({
          worker: makeWorker(String(index), { models }),
          modelsKnown: modelsKnown || models.length > 0,
        }));
        const snapshot = of(...entries);

        for (const model of new Set(workers.flatMap(({ models }) => models))) {
          const members = entries.filter(
            ({ worker, modelsKnown }) => worker.models.includes(model) || (modelsKnown && worker.models.length === 0),
          );
          expect(ids(snapshot, model)).toEqual(members.map(({ worker }) => worker.id));
        }
      }),
    );
  });

  it('cost no look at each worker for each model', () => {
    let looks = 0;
    const entries = Array.from({ length: 100 }, (_, index) => {
      const models = [`model ${index}`];
      return known(
        Object.defineProperty(makeWorker(String(index)), 'models', {
          get: () => {
            looks += 1;
            return models;
          },
        }),
      );
    });

    of(...entries);

    expect(looks).toBeLessThan(20 * entries.length);
  });
});

describe('models and uniform', () => {
  it('lists models of ready workers in order of first appearance', () => {
    const down = known(makeWorker('c', { models: ['z'], status: 'not_ready' }));

    expect(of(serving('a', 'y', 'x'), down, serving('b', 'w', 'x')).models).toEqual(['y', 'x', 'w']);
  });

  it.each<[string, boolean, FleetEntry[]]>([
    ['nobody', true, []],
    ['all list the same', true, [serving('a', 'x'), serving('b', 'x')]],
    ['all list the same in another order', true, [serving('a', 'x', 'y'), serving('b', 'y', 'x')]],
    ['nobody lists any', true, [serving('a'), serving('b')]],
    ['different lists', false, [serving('a', 'x'), serving('b', 'y')]],
    ['one lists more', false, [serving('a', 'x'), serving('b', 'x', 'y')]],
    ['one lists nothing', false, [serving('a', 'x'), serving('b')]],
    ['one is not asked yet', true, [serving('a', 'x'), asking('b')]],
  ])('%s: uniform %s', (_, expected, entries) => {
    expect(of(...entries).uniform).toBe(expected);
  });

  it.each<[string, string, FleetEntry[]]>([
    ['nobody', '', []],
    ['all list one', 'x', [serving('a', 'x'), serving('b', 'x')]],
    ['one is not asked yet', 'x', [serving('a', 'x'), asking('b')]],
    ['all list two', '', [serving('a', 'x', 'y'), serving('b', 'x', 'y')]],
    ['nobody lists any', '', [serving('a'), serving('b')]],
    ['one lists nothing', '', [serving('a', 'x'), serving('b')]],
    ['one lists another', '', [serving('a', 'x'), serving('b', 'y')]],
  ])('%s: sole model %j', (_, expected, entries) => {
    expect(of(...entries).soleModel).toBe(expected);
  });
});

describe('look-up', () => {
  it('finds by id and by address, the first registered one where several share it', () => {
    const [a, b] = [makeWorker('a', { address: '1.1.1.1:1' }), makeWorker('b', { address: '1.1.1.1:1' })];
    const snapshot = of(known(a), known(b), known(makeWorker('c', { address: '' })));

    expect(snapshot.byId('b')).toBe(b);
    expect(snapshot.byAddress('1.1.1.1:1')).toBe(a);
    expect(snapshot.byAddress('')).toBeUndefined();
    expect(snapshot.byId('x')).toBeUndefined();
  });
});

describe('data-parallel ranks', () => {
  const rank = (url: string, id: number | null) => known(makeWorker(`${url}@${id}`, { url, rank: id }));

  it.each<[string, FleetEntry[], number[]]>([
    ['engines of the same size', [rank('a', 0), rank('a', 1), rank('b', 0), rank('b', 1)], [0, 1]],
    ['one has more', [rank('a', 0), rank('a', 1), rank('b', 0)], [0]],
    ['one lacks the first', [rank('a', 0), rank('a', 1), rank('b', 1)], [1]],
    ['a whole engine beside', [rank('a', 0), rank('b', null)], []],
    ['none at all', [known(makeWorker('a'))], []],
  ])('%s: everywhere are %#', (_, entries, everywhere) => {
    const snapshot = of(...entries);

    expect([0, 1, 2].filter((each) => snapshot.hasEverywhere(each))).toEqual(everywhere);
    expect(snapshot.ranked).toBe(entries.some(({ worker }) => worker.rank !== null));
  });
});

describe('what stays the same between snapshots', () => {
  const a = serving('a', 'x');
  const b = serving('b', 'y');
  const first = of(a, b);

  it('keeps pools that did not change', () => {
    const c = serving('c', 'y');
    const next = FleetSnapshot.after(first, [a, b, c]);

    expect(next.version).toBe(first.version + 1);
    expect(next.pool('x')).toBe(first.pool('x'));
    expect(next.pool('y')?.memberIds).toEqual(['b', 'c']);
    expect(first.pool('y')?.memberIds).toEqual(['b']);
  });

  it('keeps the ids of a pool when only the state of a member changed', () => {
    const sick = known({ ...a.worker, status: 'not_ready', placeable: false });
    const next = FleetSnapshot.after(first, [sick, b]);

    expect(next.pool('x')?.available).toEqual([]);
    expect(next.pool('x')?.memberIds).toBe(first.pool('x')?.memberIds);
    expect(next.pool('')?.memberIds).toBe(first.pool('')?.memberIds);
    expect(next.pool('y')).toBe(first.pool('y'));
  });

  it('shares one list of ids between pools of the same members', () => {
    const snapshot = of(serving('a', 'x'), serving('b', 'x'));

    expect(snapshot.pool('x')?.memberIds).toBe(snapshot.pool('')?.memberIds);
  });

  it('gives a model that nobody lists a pool of its own name, unless that is overlong', () => {
    const snapshot = of(serving('any'));

    expect(snapshot.pool('m'.repeat(256))?.model).toBe('m'.repeat(256));
    expect(snapshot.pool('m'.repeat(257))?.model).toBe('unknown');
  });

  it('keeps the ids of the pool of unlisted models', () => {
    const one = of(serving('any'), a);
    const two = FleetSnapshot.after(one, [one.workers[0]!, a.worker, b.worker].map(known));

    expect(two.pool('p')?.memberIds).toBe(one.pool('q')?.memberIds);
  });
});

describe('decisions 45: gRPC workers', () => {
  const grpc = (id: string, ...models: string[]) => known(makeWorker(`grpc://${id}`, { url: `grpc://${id}`, models }));

  it('stand apart from all others, and can be found as workers of the fleet', () => {
    const snapshot = of(serving('a', 'x'), grpc('b'), grpc('c', 'y'));

    expect(snapshot.workers.map(({ id }) => id)).toEqual(['a', 'grpc://b', 'grpc://c']);
    expect([ids(snapshot, ''), ids(snapshot, 'y'), snapshot.models]).toEqual([['a'], undefined, ['x']]);
    expect(snapshot.soleModel).toBe('x');
    expect(snapshot.byId('grpc://b')?.id).toBe('grpc://b');
    expect(snapshot.grpc?.pool('')?.memberIds).toEqual(['grpc://b', 'grpc://c']);
    expect(snapshot.grpc?.byId('a')).toBeUndefined();
    expect(snapshot.grpc?.grpc).toBeNull();
  });

  it('are none where no worker is one', () => {
    expect(of(serving('a')).grpc).toBeNull();
  });

  it('keep their pool while only others change', () => {
    const b = grpc('b');
    const before = of(serving('a', 'x'), b);
    const after = FleetSnapshot.after(before, [serving('z', 'x'), b]);

    expect(after.grpc?.pool('')).toBe(before.grpc?.pool(''));
  });
});
