import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { endMonitors, setUpLoads, TICK } from '../../../test/support/load-bench.ts';
import { A, B, C, specOf } from '../../../test/support/registry-bench.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(endMonitors);

describe('policies 3.1 polling', () => {
  it('asks ready workers at once, then each interval', async () => {
    const { ready, start, polls, pass, engine } = setUpLoads();
    ready(A, B);
    start();

    await pass(0);
    expect(polls).toEqual([A, B]);

    await pass(3 * TICK);
    expect(polls.filter((id) => id === A)).toHaveLength(4);
    expect(engine(A).reports).toBe(4);
  });

  it('asks only ready workers, from the moment they are', async () => {
    const { registry, probe, start, polls, pass } = setUpLoads();
    registry.add(specOf(A), 'api');
    start();
    await pass(3 * TICK);
    expect(polls).toEqual([]);

    probe(A, '++');
    await pass(0);
    expect(polls).toEqual([A]);

    probe(A, '---');
    await pass(3 * TICK);
    expect(polls).toEqual([A]);
  });

  it.each([
    { declared: [null, null], intervals: [10, 10] },
    { declared: [2, null], intervals: [2, 2] },
    { declared: [5, 2], intervals: [2, 2] },
    { declared: [30, null], intervals: [30, 30] },
  ])('a group that declares $declared s is asked each $intervals s', async ({ declared, intervals }) => {
    const { registry, ready, start, polls, pass } = setUpLoads({ intervalMs: 10_000 });
    ready(A, B);
    for (const [index, id] of [A, B].entries()) {
      registry.update(specOf(id, { load_monitor_interval_secs: declared[index] }));
    }
    start();

    await pass(60_000);

    for (const [index, id] of [A, B].entries()) {
      expect(polls.filter((each) => each === id)).toHaveLength(1 + 60 / intervals[index]!);
    }
  });

  it('keeps the intervals of two models apart', async () => {
    const { registry, ready, start, polls, pass } = setUpLoads({ intervalMs: 10_000 });
    ready(A, B);
    registry.update(specOf(A, { models: [{ id: 'a' }], load_monitor_interval_secs: 1 }));
    registry.update(specOf(B, { models: [{ id: 'b' }] }));
    start();

    await pass(10_000);

    expect([A, B].map((id) => polls.filter((each) => each === id).length)).toEqual([11, 2]);
  });

  it('takes a new interval when a worker of the group declares one', async () => {
    const { registry, ready, start, polls, pass } = setUpLoads({ intervalMs: 10_000 });
    ready(A, B);
    start();
    await pass(5_000);
    polls.length = 0;

    registry.update(specOf(B, { load_monitor_interval_secs: 1 }));
    await pass(3_000);

    expect(polls.filter((id) => id === A)).toHaveLength(4);
  });

  it('is off until reports are needed, and off again after', async () => {
    let needed = false;
    const { ready, start, polls, pass, engine } = setUpLoads({ needed: () => needed });
    ready(A);
    const monitor = start();
    await pass(5 * TICK);
    expect(polls).toEqual([]);

    needed = true;
    monitor.reconsider();
    await pass(TICK);
    expect(polls).toHaveLength(2);
    expect(engine(A).recent).not.toBeNull();

    needed = false;
    monitor.reconsider();
    await pass(5 * TICK);
    expect(polls).toHaveLength(2);
    expect(engine(A)).toMatchObject({ current: null, recent: null });
  });

  it('asks a worker that declares an overload block, even when nobody else needs its load', async () => {
    const { registry, ready, start, polls, pass, worker } = setUpLoads({ needed: () => false });
    ready(A, B);
    start();

    registry.update(specOf(B, { overload: { waiting_requests: 1 } }));
    await pass(TICK);
    expect(new Set(polls)).toEqual(new Set([B]));

    registry.update(specOf(B));
    polls.length = 0;
    await pass(TICK);
    expect(polls).toEqual([]);
    expect(worker(B).overloaded).toBe(false);
  });

  it('never asks a worker twice at a time, and leaves out the ticks that a hanging poll takes', async () => {
    const { ready, start, polls, pass, moods, most } = setUpLoads();
    ready(A);
    moods.set(A, 'silent');
    start();

    await pass(12 * TICK);

    expect(most()).toBe(1);
    expect(polls).toHaveLength(3);
  });

  it('asks 128 at once at most', async () => {
    const { ready, start, pass, moods, most } = setUpLoads();
    const hanging = Array.from({ length: 200 }, (_, index) => `http://10.1.0.${index}:8000`);
    ready(...hanging);
    for (const id of hanging) moods.set(id, 'silent');
    start();

    await pass(0);

    expect(most()).toBe(128);
  });

  it('comes up to a tenth of the interval early, so that polls spread', async () => {
    const { ready, start, polls, pass } = setUpLoads({ random: () => 1 });
    ready(A);
    start();

    await pass(0.9 * TICK - 1);
    expect(polls).toHaveLength(1);
    await pass(1);
    expect(polls).toHaveLength(2);
  });

  it('goes on with the others while many workers hang', async () => {
    const { ready, start, polls, pass, moods } = setUpLoads();
    const hanging = Array.from({ length: 300 }, (_, index) => `http://10.1.${index >> 8}.${index & 255}:8000`);
    ready(...hanging, A);
    for (const id of hanging) moods.set(id, 'silent');
    start();

    await pass(10 * TICK);

    expect(polls.filter((id) => id === A).length).toBeGreaterThan(4);
  });

  it('drops what a poll brings when its worker was replaced or left meanwhile', async () => {
    const { registry, ready, probe, start, pass, moods, told, engine } = setUpLoads();
    ready(A, B, C);
    for (const id of [A, B, C]) moods.set(id, 'silent');
    start();
    await pass(0);
    const gone = engine(C);

    registry.replace(specOf(A, { labels: { new: 'yes' } }));
    probe(B, '---');
    registry.remove(C);
    await pass(0);

    expect(told).toEqual([]);
    expect([engine(A).reports, engine(B).reports, gone.reports]).toEqual([0, 0, 0]);
  });

  it('asks a replaced worker for its routes again', async () => {
    const { registry, ready, start, pass, moods, polls } = setUpLoads();
    ready(A);
    moods.set(A, 'dumb');
    start();
    await pass(TICK);
    // All three routes, then the exposition alone.
    expect(polls).toHaveLength(4);

    registry.replace(specOf(A, { labels: { new: 'yes' } }));
    polls.length = 0;
    await pass(0);
    expect(polls).toHaveLength(3);
  });
});
