import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { A, B, setUpRegistry, specOf } from '../../test/support/registry-bench.ts';
import { NEVER_OPENS } from './breaker.ts';
import type { RegistryOptions } from './registry-options.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const RULES = { failureThreshold: 2, successThreshold: 2, openMs: 60_000 };

function setUp(options: RegistryOptions = {}) {
  const bench = setUpRegistry({ breaker: RULES, ...options });
  bench.ready(A, B);
  const published: number[] = [];
  bench.registry.subscribe(({ version }) => published.push(version));
  const fail = (id: string, times = 1) => {
    for (let i = 0; i < times; i++) bench.registry.attempted(id, 'failure');
  };
  const succeed = (id: string, times = 1) => {
    for (let i = 0; i < times; i++) bench.registry.attempted(id, 'success');
  };
  return { ...bench, published, fail, succeed };
}

describe('policies 2.3 a breaker in the fleet', () => {
  it('sticky-sessions 3.4: open it takes nothing, half-open everything', () => {
    const { registry, worker, fail, succeed } = setUp();
    const able = () => [worker(A).breaker, worker(A).placeable, worker(A).keepsPins];

    fail(A, 2);
    expect(able()).toEqual(['open', false, false]);
    expect(registry.current.pool('')?.available.map(({ id }) => id)).toEqual([B]);

    vi.advanceTimersByTime(59_999);
    expect(able()).toEqual(['open', false, false]);
    vi.advanceTimersByTime(1);
    expect(able()).toEqual(['half_open', true, true]);

    succeed(A, 2);
    expect(able()).toEqual(['closed', true, true]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('opens anew, for a whole time, when a trial fails', () => {
    const { worker, fail } = setUp();
    fail(A, 2);
    vi.advanceTimersByTime(60_000);

    fail(A);

    expect(worker(A).breaker).toBe('open');
    vi.advanceTimersByTime(59_999);
    expect(worker(A).breaker).toBe('open');
    vi.advanceTimersByTime(1);
    expect(worker(A).breaker).toBe('half_open');
  });

  it('makes one snapshot for each change of state, and none for a count', () => {
    const { registry, published, fail, succeed } = setUp();
    const before = registry.current;

    succeed(A, 1000);
    fail(A);
    succeed(A);
    expect(registry.current).toBe(before);

    fail(A, 5);
    expect(published).toHaveLength(1);
    succeed(A, 5);
    expect(published).toHaveLength(1);
    vi.advanceTimersByTime(60_000);
    expect(published).toHaveLength(2);
    succeed(A);
    expect(published).toHaveLength(2);
    succeed(A);
    expect(published).toHaveLength(3);
  });

  it('leaves the pools of others as they are', () => {
    const { registry, worker, fail } = setUp();
    const b = worker(B);

    fail(A, 2);

    expect(worker(B)).toBe(b);
    expect(registry.current.pool('')?.memberIds).toEqual([A, B]);
  });

  it('a worker that is out for its health stays out when its breaker closes', () => {
    const { worker, probe, fail, succeed } = setUp();
    fail(A, 2);
    probe(A, '---');
    vi.advanceTimersByTime(60_000);
    succeed(A, 2);

    expect([worker(A).breaker, worker(A).placeable]).toEqual(['closed', false]);
  });

  it('each worker has a breaker and a time of its own', () => {
    const { worker, fail } = setUp();
    fail(A, 2);
    vi.advanceTimersByTime(30_000);
    fail(B, 2);
    const states = () => [worker(A).breaker, worker(B).breaker];

    vi.advanceTimersByTime(30_000);
    expect(states()).toEqual(['half_open', 'open']);
    vi.advanceTimersByTime(30_000);
    expect(states()).toEqual(['half_open', 'half_open']);
  });

  it('is told of nobody it does not know', () => {
    const { registry, published } = setUp();
    registry.attempted('http://nobody:1', 'failure');
    expect(published).toEqual([]);
  });

  it('--disable-circuit-breaker: counts, and never opens', () => {
    const { instance, worker, fail } = setUp({ breaker: { ...RULES, failureThreshold: NEVER_OPENS } });
    fail(A, 100);
    expect([worker(A).breaker, instance(A).breaker.consecutiveFailures]).toEqual(['closed', 100]);
  });
});

describe('a breaker begins anew', () => {
  it('when its worker is removed and added', () => {
    const { registry, ready, worker, fail } = setUp();
    fail(A, 2);

    registry.remove(A);
    expect(vi.getTimerCount()).toBe(0);
    ready(A);

    expect(worker(A).breaker).toBe('closed');
    fail(A);
    expect(worker(A).breaker).toBe('closed');
  });

  it('when its worker is replaced', () => {
    const { registry, worker, fail } = setUp();
    fail(A, 2);

    registry.replace(specOf(A, { cost: 2 }));

    expect([worker(A).breaker, worker(A).placeable]).toEqual(['closed', true]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('but not when its worker is updated or drained', () => {
    const { registry, worker, fail } = setUp();
    fail(A, 2);

    registry.update(specOf(A, { cost: 2 }));
    registry.drain(A);
    registry.undrain(A);

    expect(worker(A).breaker).toBe('open');
  });
});

it('closing the registry ends every wait', () => {
  const { registry, fail } = setUp();
  fail(A, 2);
  fail(B, 1);

  registry.close();
  expect(vi.getTimerCount()).toBe(0);

  fail(B, 1);
  expect(vi.getTimerCount()).toBe(0);
});

it('a timer that fires early waits for the rest', () => {
  const { worker, fail } = setUp();
  vi.useRealTimers();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const now = vi.spyOn(performance, 'now');
  now.mockReturnValue(1000);
  fail(A, 2);

  now.mockReturnValue(60_999.4);
  vi.advanceTimersByTime(60_000);
  expect(worker(A).breaker).toBe('open');

  now.mockReturnValue(61_000);
  vi.advanceTimersByTime(1);
  expect(worker(A).breaker).toBe('half_open');
  now.mockRestore();
});

it('the observer is told of each change, with the state before', () => {
  const told: string[] = [];
  const { fail, succeed } = setUp({
    observer: {
      probed: () => {},
      statusChanged: () => {},
      breakerChanged: ({ id, breaker }, previous) => told.push(`${id} ${previous} -> ${breaker}`),
      ranksTold: () => {},
      added: () => {},
      removed: () => {},
    },
  });

  fail(A, 3);
  vi.advanceTimersByTime(60_000);
  fail(A);
  vi.advanceTimersByTime(60_000);
  succeed(A, 3);

  expect(told).toEqual([
    `${A} closed -> open`,
    `${A} open -> half_open`,
    `${A} half_open -> open`,
    `${A} open -> half_open`,
    `${A} half_open -> closed`,
  ]);
});
