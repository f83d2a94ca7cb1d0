import { describe, expect, it } from 'vitest';
import { makeWorker, TestFleet } from '../../test/support/fleet.ts';
import { RouterDriver } from '../../test/support/routing.ts';

describe('policies 2.4 several policies in one fleet', () => {
  const serving = (id: string, model: string, policy: string) =>
    makeWorker(id, { models: [model], labels: { policy } });
  const fleet = () =>
    new TestFleet([
      serving('a1', 'a', 'passthrough'),
      serving('a2', 'a', 'passthrough'),
      serving('b1', 'b', 'manual'),
      serving('b2', 'b', 'manual'),
      serving('c1', 'c', 'ConsistentHashing'),
      serving('c2', 'c', 'ConsistentHashing'),
      makeWorker('d1', { models: ['d'] }),
      makeWorker('d2', { models: ['d'] }),
    ]);

  it('places each model by its own, and says so', () => {
    const driver = new RouterDriver(fleet());
    const twice = (model: string) =>
      [1, 2].map(() => driver.place({ model })).map(({ worker, policy }) => [worker.id, policy]);

    expect(twice('a')).toEqual([
      ['a1', 'passthrough'],
      ['a1', 'passthrough'],
    ]);
    expect(twice('b')[0]![1]).toBe('manual');
    expect(twice('c')[0]![1]).toBe('consistent_hashing');
    expect(twice('d')).toEqual([
      ['d1', 'round_robin'],
      ['d2', 'round_robin'],
    ]);
  });

  it('reads keys and keeps pins as each policy does', () => {
    const driver = new RouterDriver(fleet());
    const of = (model: string) => driver.place({ model, key: 'conv_t2' });

    expect([of('a').pinKey, of('b').pinKey, of('c').pinKey, of('d').pinKey]).toEqual([
      '1:a:s:conv',
      'manual@1:b:s:conv_t2',
      null,
      '1:d:s:conv',
    ]);
    expect(of('c').trail.ringBranch).toBe('routing_key_hit');
    expect(driver.place({ model: 'a', target: '1' }).strict).toBe(false);
    expect(driver.place({ model: 'c', target: '1' }).worker.id).toBe('c2');
  });

  it('keeps the keys of two models apart that have a manual of their own each', () => {
    const driver = new RouterDriver(new TestFleet([serving('a1', 'a', 'manual'), serving('b1', 'b', 'manual')]));
    const branches = ['a', 'b', 'a', 'b'].map((model) => driver.place({ model, key: 'k' }).trail.stickyBranch);

    expect(branches).toEqual(['vacant', 'vacant', 'occupied_hit', 'occupied_hit']);
  });

  it('places by chance under a manual that a label names, whatever the mode of the gateway', () => {
    const driver = new RouterDriver(fleet(), { mode: 'min_load', random: () => 0.99 });
    driver.fleet.load('b2').begin(null, 5);

    expect(driver.place({ model: 'b', key: 'k' }).worker.id).toBe('b2');
    expect(driver.place({ model: 'b' }).worker.id).toBe('b2');
  });

  it('stores after another worker served as the policy of the pin would', () => {
    const { router } = new RouterDriver(fleet());

    expect(router.afterServed('manual@1:b:s:k', ['b1'], 'b2')).toEqual(['b1', 'b2']);
    expect(router.afterServed('1:a:s:k', ['a1'], 'a2')).toEqual(['a2', 'a1']);
  });
});
