import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { endMonitors, FIVE_WAITING, setUpLoads, TICK } from '../../../test/support/load-bench.ts';
import { A, B, C } from '../../../test/support/registry-bench.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(endMonitors);

describe('policies 3.4 freshness', () => {
  it.each(['refused', 'dumb'] as const)('forgets the current report at a poll without one: %s', async (mood) => {
    const { ready, start, pass, moods, engine } = setUpLoads();
    ready(A);
    start();
    await pass(0);
    const { recent } = engine(A);

    moods.set(A, mood);
    await pass(TICK);

    expect(engine(A)).toMatchObject({ current: null, recent, reports: 1 });
  });

  it.each([
    { staleIntervals: 3, kept: 2_999, gone: 3_000 },
    { staleIntervals: 1, kept: 999, gone: 1_000 },
  ])('R21: after $staleIntervals intervals the last report is stale', async ({ staleIntervals, kept, gone }) => {
    const { ready, start, pass, moods, engine } = setUpLoads({ staleIntervals });
    ready(A);
    start();
    await pass(0);
    moods.set(A, 'silent');

    await pass(kept);
    expect(engine(A).recent).not.toBeNull();
    await pass(gone - kept);
    expect(engine(A)).toMatchObject({ current: null, recent: null });
  });

  it('keeps reports for ever with 0 stale intervals', async () => {
    const { ready, start, pass, moods, engine } = setUpLoads({ staleIntervals: 0 });
    ready(A);
    start();
    await pass(0);
    moods.set(A, 'refused');

    await pass(1_000 * TICK);

    expect(engine(A).recent).not.toBeNull();
  });

  it('forgets the reports of a worker that leaves ready', async () => {
    const { ready, probe, start, pass, engine } = setUpLoads();
    ready(A);
    start();
    await pass(0);

    probe(A, '---');

    expect(engine(A)).toMatchObject({ current: null, recent: null });
  });

  it('tells each change between reporting and silence once', async () => {
    const { ready, start, pass, moods, told } = setUpLoads();
    ready(A);
    start();
    await pass(TICK);
    moods.set(A, 'refused');
    await pass(2 * TICK);

    expect(told).toEqual([
      `${A} report`,
      `${A} reports true`,
      `${A} report`,
      `${A} failed`,
      `${A} reports false`,
      `${A} failed`,
    ]);
  });
});

describe('policies 2.2 overload veto', () => {
  it('takes a worker out with its report and in again with the next good one', async () => {
    const { ready, start, pass, moods, worker, told } = setUpLoads({ overload: FIVE_WAITING, needed: () => false });
    ready(A);
    start();
    moods.set(A, 5);
    await pass(TICK);
    expect(worker(A)).toMatchObject({ overloaded: true, placeable: false, keepsPins: false, status: 'ready' });

    moods.set(A, 4);
    await pass(TICK + 10);
    expect(worker(A)).toMatchObject({ overloaded: false, placeable: true });
    expect(told.filter((line) => line.includes('overloaded'))).toEqual([
      `${A} overloaded true`,
      `${A} overloaded false`,
    ]);
  });

  it.each(['refused', 'dumb', 'silent'] as const)('ends when a poll brings nothing: %s', async (mood) => {
    const { ready, start, pass, moods, worker } = setUpLoads({ overload: FIVE_WAITING });
    ready(A);
    moods.set(A, 9);
    start();
    await pass(100);
    expect(worker(A).overloaded).toBe(true);

    moods.set(A, mood);
    await pass(mood === 'silent' ? 7 * TICK : TICK);
    expect(worker(A).overloaded).toBe(false);
  });

  it('ends with its report going stale, however long the next poll takes', async () => {
    const { ready, start, pass, moods, worker } = setUpLoads({ overload: FIVE_WAITING });
    ready(A);
    moods.set(A, 9);
    start();
    await pass(100);
    moods.set(A, 'silent');

    await pass(2_890);
    expect(worker(A).overloaded).toBe(true);
    await pass(20);
    expect(worker(A).overloaded).toBe(false);
  });

  it('a verdict that was not told yet ends with the monitor', async () => {
    const { ready, start, pass, moods, worker } = setUpLoads({ overload: FIVE_WAITING });
    ready(A);
    moods.set(A, 9);
    const monitor = start();
    await pass(0);

    monitor.close();

    expect(vi.getTimerCount()).toBe(0);
    await pass(100);
    expect(worker(A).overloaded).toBe(false);
  });

  it('ends when the worker leaves ready, and is judged anew when it returns', async () => {
    const { ready, probe, start, pass, moods, worker } = setUpLoads({ overload: FIVE_WAITING });
    ready(A);
    moods.set(A, 9);
    start();
    await pass(100);

    probe(A, '---');
    expect(worker(A)).toMatchObject({ overloaded: false, status: 'not_ready' });

    probe(A, '++');
    expect(worker(A).overloaded).toBe(false);
    await pass(100);
    expect(worker(A).overloaded).toBe(true);
  });

  it('ends when the worker is on its way out', async () => {
    const { registry, ready, begin, end, start, pass, moods, worker } = setUpLoads({ overload: FIVE_WAITING });
    ready(A);
    moods.set(A, 9);
    start();
    await pass(100);
    begin(A);

    registry.remove(A);
    expect(worker(A)).toMatchObject({ overloaded: false, status: 'draining' });

    end(A);
    await pass(5 * TICK);
    expect(registry.current.workers).toEqual([]);
  });

  it('goes on judging a worker that drains and keeps its pins', async () => {
    const { registry, ready, start, pass, moods, worker } = setUpLoads({ overload: FIVE_WAITING });
    ready(A);
    start();
    registry.drain(A);
    moods.set(A, 9);
    await pass(TICK + 10);
    expect(worker(A)).toMatchObject({ overloaded: true, keepsPins: false });

    moods.set(A, 0);
    await pass(TICK);
    expect(worker(A)).toMatchObject({ overloaded: false, keepsPins: true });
    registry.close();
  });

  it('makes one snapshot for all flips of a tick, and none without a flip', async () => {
    const { ready, start, pass, moods, versions, registry } = setUpLoads({ overload: FIVE_WAITING });
    ready(A, B, C);
    start();
    await pass(10);
    const before = versions();

    for (const id of [A, B, C]) moods.set(id, 9);
    await pass(TICK);
    expect(versions() - before).toBe(1);
    expect(registry.current.pool('')?.available).toEqual([]);

    await pass(5 * TICK);
    expect(versions() - before).toBe(1);
  });
});
