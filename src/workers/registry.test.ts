import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { A, B, C, setUpRegistry as setUp, specOf as spec } from '../../test/support/registry-bench.ts';
import type { FleetObserver } from './fleet-observer.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('policies 2.4 registration', () => {
  it('adds in order, each with a version of its own', () => {
    const { registry, order, worker } = setUp();

    expect(registry.add(spec(A), 'flags')).toMatchObject({ kind: 'added', worker: { id: A, status: 'pending' } });
    registry.add(spec(B, { name: 'b', models: [{ id: 'm' }], priority: 7, cost: 2, labels: { z: '1' } }), 'api');

    expect(registry.current.version).toBe(2);
    expect(order()).toEqual([A, B]);
    expect(worker(B)).toMatchObject({
      name: 'b',
      models: ['m'],
      priority: 7,
      cost: 2,
      labels: { z: '1' },
      source: 'api',
    });
    expect(worker(A)).toMatchObject({ name: A, priority: 50, cost: 1, address: '10.0.0.1:8000', placeable: false });
  });

  it.each([A, 'http://10.0.0.1:8000/'])('does not add %s twice', (url) => {
    const { registry } = setUp();
    registry.add(spec(A), 'flags');

    expect(registry.add(spec(url), 'api')).toMatchObject({ kind: 'exists', worker: { id: A, source: 'flags' } });
    expect(registry.current.version).toBe(1);
  });

  it('takes two spellings of an endpoint for one worker', () => {
    const { registry } = setUp();
    registry.add(spec('http://host'), 'flags');

    expect(registry.add(spec('http://HOST:80'), 'api').kind).toBe('exists');
  });

  it('updates in place, replaces at the end', () => {
    const { registry, order, worker } = setUp();
    for (const url of [A, B, C]) registry.add(spec(url), 'api');

    registry.update(spec(A, { name: 'first' }));
    expect([order(), worker(A).name]).toEqual([[A, B, C], 'first']);

    registry.replace(spec(A, { cost: 3 }));
    expect([order(), worker(A).name, worker(A).cost]).toEqual([[B, C, A], A, 3]);
  });

  it('keeps status and counts through an update and a replacement', () => {
    const { registry, ready, begin, worker } = setUp();
    ready(A);
    begin(A);

    registry.update(spec(A, { name: 'x' }));
    registry.replace(spec(A, { name: 'y' }));

    expect([worker(A).status, worker(A).load.requests]).toEqual(['ready', 1]);
  });

  it('knows nothing of other workers', () => {
    const { registry } = setUp();

    expect([registry.update(spec(A)), registry.replace(spec(A))]).toEqual([undefined, undefined]);
    expect([registry.remove(A), registry.drain(A), registry.undrain(A)]).toEqual(['unknown', 'unknown', 'unknown']);
  });

  it('asks again for models when declared ones are withdrawn', () => {
    const { registry, instance, worker } = setUp();
    registry.add(spec(A, { models: [{ id: 'm' }] }), 'api');
    registry.modelsAnswered(instance(A), ['old']);
    expect(worker(A).models).toEqual(['m']);

    registry.update(spec(A));

    expect([instance(A).modelsKnown, worker(A).models]).toEqual([false, []]);
  });
});

describe('policies 2.1 status as readers see it', () => {
  it('goes through the states, and only ready is placeable', () => {
    const { ready, probe, worker } = setUp();
    ready(A);
    expect(worker(A)).toMatchObject({ status: 'ready', placeable: true, keepsPins: true });
    probe(A, '---');
    expect(worker(A)).toMatchObject({ status: 'not_ready', placeable: false, keepsPins: false });
    probe(A, '++');
    expect(worker(A)).toMatchObject({ status: 'ready', placeable: true });
    probe(A, '-'.repeat(12));
    expect(worker(A)).toMatchObject({ status: 'failed', placeable: false });
    probe(A, '-+-+');
    expect(worker(A).status).toBe('failed');
    probe(A, '+');
    expect(worker(A)).toMatchObject({ status: 'ready', placeable: true, keepsPins: true });
  });

  it('makes a version only for what readers see', () => {
    const { registry, ready, probe, instance } = setUp();
    ready(A);
    const { version } = registry.current;

    probe(A, '+-+--');
    registry.modelsAnswered(instance(A), []);
    registry.resolved(instance(A), '10.0.0.1:8000');

    expect(registry.current.version).toBe(version);
    expect(instance(A).lastProbe).toMatchObject({ ok: false });
  });

  it('gives a failed worker a new start when it is replaced', () => {
    const { registry, ready, probe, worker } = setUp();
    ready(A);
    probe(A, '-'.repeat(12));

    registry.replace(spec(A));

    expect(worker(A).status).toBe('pending');
  });

  it('removes a failed worker only with --remove-unhealthy-workers', () => {
    const { registry, ready, probe } = setUp({ removeFailed: true });
    ready(A, B);

    probe(A, '-'.repeat(12));

    expect([registry.current.byId(A), registry.instance(A)]).toEqual([undefined, undefined]);
    expect(registry.current.byId(B)?.status).toBe('ready');
  });

  it('is ready without probes where they are off', () => {
    const { registry, instance, worker } = setUp();
    registry.add(spec(A), 'api');

    registry.assumeReady(instance(A));

    expect(worker(A).placeable).toBe(true);
  });

  it('takes a name without an address for not placeable', () => {
    const { registry, instance, worker, probe } = setUp();
    registry.add(spec('http://w:8000'), 'api');
    probe('http://w:8000', '++');
    expect(worker('http://w:8000')).toMatchObject({ status: 'ready', address: '', placeable: false, keepsPins: false });

    registry.resolved(instance('http://w:8000'), '10.0.0.9:8000');
    expect(worker('http://w:8000')).toMatchObject({ address: '10.0.0.9:8000', placeable: true });
    expect(registry.current.byAddress('10.0.0.9:8000')?.id).toBe('http://w:8000');
  });
});

describe('a source read anew', () => {
  it('adds, updates and removes only what it brought, with one version', () => {
    const { registry, ready, order, worker } = setUp();
    ready(A);
    registry.replaceSource('file', [spec(B), spec(C)]);
    const { version } = registry.current;

    const D = 'http://10.0.0.4:8000';
    const changes = registry.replaceSource('file', [spec(D), spec(C, { name: 'c' }), spec(A, { name: 'mine' })]);

    expect(changes).toEqual({ added: [D], updated: [C], removed: [B], conflicts: [A] });
    expect(registry.current.version).toBe(version + 1);
    expect(order()).toEqual([A, C, D]);
    expect([worker(C).name, worker(A).name]).toEqual(['c', A]);
  });

  it('changes nothing when it says the same', () => {
    const { registry } = setUp();
    registry.replaceSource('file', [spec(A), spec(B)]);
    const { version } = registry.current;

    const changes = registry.replaceSource('file', [spec(B), spec(A)]);

    expect(changes).toEqual({ added: [], updated: [], removed: [], conflicts: [] });
    expect(registry.current.version).toBe(version);
  });

  it('names a worker that it declares twice', () => {
    const { registry } = setUp();

    expect(registry.replaceSource('file', [spec(A), spec(A, { name: 'again' })]).conflicts).toEqual([A]);
    expect(registry.current.byId(A)?.name).toBe(A);
  });

  it('takes a removal back when the worker returns before its end', () => {
    const { registry, instance, worker, begin, probe } = setUp();
    registry.replaceSource('file', [spec(A)]);
    registry.modelsAnswered(instance(A), []);
    probe(A, '++');
    begin(A);
    registry.replaceSource('file', []);
    expect(worker(A).status).toBe('draining');

    expect(registry.replaceSource('file', [spec(A)]).updated).toEqual([A]);
    vi.advanceTimersByTime(60_000);

    expect(worker(A)).toMatchObject({ status: 'ready', placeable: true });
  });

  it('leaves a soft drain as it is', () => {
    const { registry, worker } = setUp();
    registry.replaceSource('file', [spec(A)]);
    registry.drain(A);

    registry.replaceSource('file', [spec(A, { name: 'a' })]);

    expect(worker(A)).toMatchObject({ status: 'draining', name: 'a' });
  });
});

describe('subscription', () => {
  it('tells each change until it is undone', () => {
    const { registry } = setUp();
    const versions: number[] = [];
    const undo = registry.subscribe((snapshot) => versions.push(snapshot.version));

    registry.add(spec(A), 'api');
    registry.add(spec(B), 'api');
    undo();
    registry.add(spec(C), 'api');

    expect(versions).toEqual([1, 2]);
  });

  it('tells once that the sources were read', () => {
    const { registry } = setUp();
    let told = 0;
    registry.subscribe(() => {
      told += 1;
    });
    expect(registry.settled).toBe(false);

    registry.markSettled();
    registry.markSettled();

    expect([registry.settled, told]).toEqual([true, 1]);
  });

  it.each([
    ['the first success says nothing yet', ['+', ''], false],
    ['one worker is ready, the other not probed', ['++', ''], false],
    ['all are ready', ['++', '++'], true],
    ['one is ready, the other failed a probe', ['++', '-'], true],
  ])('has judged its workers at start: %s', (_, [ofA = '', ofB = ''], judged) => {
    const { registry, probe } = setUp();
    registry.replaceSource('flags', [spec(A), spec(B)]);
    registry.markSettled();
    probe(A, ofA);
    probe(B, ofB);
    expect(registry.judged).toBe(judged);
  });

  it('has judged nothing before its sources were read, and stays judged whatever comes later', () => {
    const { registry } = setUp();
    expect(registry.judged).toBe(false);
    registry.markSettled();
    expect(registry.judged).toBe(true);
    registry.add(spec(A), 'api');
    expect(registry.judged).toBe(true);
  });

  it('has judged its workers when the last one not probed is gone, or needs no probe', () => {
    for (const settle of ['remove', 'assumeReady'] as const) {
      const { registry, instance } = setUp();
      registry.replaceSource('flags', [spec(A)]);
      registry.markSettled();
      expect(registry.judged).toBe(false);
      if (settle === 'remove') registry.remove(A);
      else registry.assumeReady(instance(A));
      expect(registry.judged).toBe(true);
    }
  });

  it('leaves no timer behind', () => {
    const { registry, ready, begin } = setUp();
    ready(A, B);
    begin(A);
    registry.remove(A);
    registry.drain(B);

    registry.close();

    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('observer', () => {
  it('is told of probes, changes of status, arrivals and departures', () => {
    const told: string[] = [];
    const observer: FleetObserver = {
      probed: (worker, ok) => told.push(`probed ${worker.type} ${ok}`),
      statusChanged: (worker, previous) => told.push(`${previous} -> ${worker.status}`),
      breakerChanged: (worker, previous) => told.push(`${previous} -> ${worker.breaker}`),
      ranksTold: (worker, size) => told.push(`${worker.id} has ${size} ranks`),
      added: () => told.push('added'),
      removed: () => told.push('removed'),
    };
    const { registry, ready, probe } = setUp({ observer });

    ready(A);
    probe(A, '-');
    registry.drain(A);
    registry.undrain(A);
    registry.remove(A);

    expect(told).toEqual([
      'added',
      'probed regular true',
      'probed regular true',
      'pending -> ready',
      'probed regular false',
      'ready -> draining',
      'draining -> ready',
      'removed',
    ]);
  });
});
