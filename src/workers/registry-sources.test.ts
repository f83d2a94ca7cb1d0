import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { A, B, setUpRegistry, specOf } from '../../test/support/registry-bench.ts';
import type { RegistryOptions } from './registry-options.ts';
import type { SourcedWorker, SourceState } from './sourced-worker.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function setUp(options: RegistryOptions = {}) {
  const bench = setUpRegistry(options);
  const { registry, instance, probe } = bench;
  const named = (id: string, state: SourceState = 'up', incarnation = 'one'): SourcedWorker => ({
    spec: specOf(id),
    state,
    incarnation,
  });
  const tell = (...workers: readonly SourcedWorker[]) => registry.followSource('kubernetes', workers);
  const ready = (id: string) => {
    registry.modelsAnswered(instance(id), ['m']);
    probe(id, '++');
  };
  return { ...bench, named, tell, ready };
}

describe('a source that tells how its workers do', () => {
  it.each<SourceState>(['unready', 'leaving'])('does not take in a worker that is %s', (state) => {
    const { registry, named, tell } = setUp();

    expect(tell(named(A, state))).toEqual({ added: [], updated: [], removed: [], conflicts: [] });
    expect(registry.current.version).toBe(0);
  });

  it('takes a worker out while it is unready, and brings it back at once', () => {
    const { named, tell, ready, worker, instance } = setUp();
    tell(named(A));
    ready(A);
    const same = instance(A);

    expect(tell(named(A, 'unready')).updated).toEqual([A]);
    expect(worker(A)).toMatchObject({ status: 'not_ready', placeable: false, keepsPins: false });

    tell(named(A));
    expect(worker(A)).toMatchObject({ status: 'ready', placeable: true, models: ['m'] });
    expect(instance(A)).toBe(same);
  });

  it.each([
    ['not_ready', '---'],
    ['failed', `---${'-'.repeat(9)}`],
  ])('lets probes begin anew when it is up again after they found it %s', (status, probes) => {
    const { named, tell, ready, worker, instance, probe } = setUp();
    tell(named(A));
    ready(A);
    tell(named(A, 'unready'));
    probe(A, probes);
    expect(worker(A).status).toBe(status);
    const before = instance(A).spec;

    tell(named(A));

    expect(worker(A).status).toBe('pending');
    expect(instance(A).modelsKnown).toBe(false);
    // The health checker makes a new loop, which probes at once, for another declaration.
    expect(instance(A).spec).not.toBe(before);
  });

  it('drains a leaving worker for as long as it is named, without regard to pins', () => {
    const { registry, named, tell, ready, worker, begin } = setUp();
    tell(named(A));
    ready(A);

    tell(named(A, 'leaving'));
    begin(A);
    vi.advanceTimersByTime(3_600_000);
    tell(named(A, 'leaving'));
    expect(worker(A)).toMatchObject({ status: 'draining', placeable: false, keepsPins: false });
    expect(registry.drain(A)).toBe('removing');

    expect(tell().removed).toEqual([A]);
    expect(worker(A).status).toBe('draining');
    vi.advanceTimersByTime(5_100);
    expect(registry.current.byId(A)).toBeUndefined();
  });

  it('forgets a leaving worker with nothing in flight as soon as it is named no more', () => {
    const { registry, named, tell } = setUp();
    tell(named(A));
    tell(named(A, 'leaving'));
    tell();

    expect(registry.current.byId(A)).toBeUndefined();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('begins anew with another incarnation, whatever was in flight', () => {
    const { registry, named, tell, ready, worker, instance, begin } = setUp();
    tell(named(A), named(B));
    ready(A);
    begin(A);
    const old = instance(A);

    const changes = tell(named(A, 'up', 'two'), named(B));

    expect(changes).toEqual({ added: [A], updated: [], removed: [A], conflicts: [] });
    expect(instance(A)).not.toBe(old);
    expect(worker(A)).toMatchObject({ status: 'pending', load: { requests: 0 } });
    expect(registry.current.workers).toHaveLength(2);
  });

  it('lets another incarnation that is not up only end the old one', () => {
    const { registry, named, tell } = setUp();
    tell(named(A));

    expect(tell(named(A, 'unready', 'two'))).toMatchObject({ added: [], removed: [A] });
    expect(registry.current.workers).toEqual([]);
  });

  it('says the same twice without a new version', () => {
    const { registry, named, tell } = setUp();
    const all = [named(A), named(B)];
    tell(...all);
    tell(named(A, 'unready'), named(B, 'leaving'));
    const { version } = registry.current;

    tell(named(A, 'unready'), named(B, 'leaving'));

    expect(registry.current.version).toBe(version);
  });

  it('serves what a worker lists beside what is declared, where the declaration says so', () => {
    const { registry, tell, instance, worker } = setUp();
    const spec = { ...specOf(A, { models: [{ id: 'team' }] }), modelsBeside: true };
    tell({ spec, state: 'up', incarnation: '' });
    expect(instance(A).modelsKnown).toBe(false);

    registry.modelsAnswered(instance(A), ['llama', 'team']);

    expect(worker(A).models).toEqual(['team', 'llama']);
  });

  it('forgets a worker whose probes keep failing where its source brings it back, and no other', () => {
    const { registry, named, tell, probe, ready } = setUp({ removeFailed: 'kubernetes' });
    registry.replaceSource('flags', [specOf(B)]);
    tell(named(A));
    for (const id of [A, B]) {
      ready(id);
      probe(id, '-'.repeat(12));
    }

    expect(registry.current.workers).toMatchObject([{ id: B, status: 'failed' }]);
    tell(named(A));
    expect(registry.current.byId(A)?.status).toBe('pending');
  });
});
