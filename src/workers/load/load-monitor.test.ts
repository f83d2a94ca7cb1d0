import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { A, B, C, setUpRegistry, specOf } from '../../../test/support/registry-bench.ts';
import type { AskOptions, askWorker } from '../ask-worker.ts';
import type { HttpResult } from '../http-get.ts';
import type { WorkerSpec } from '../worker-spec.ts';
import { LoadMonitor, type LoadMonitorOptions } from './load-monitor.ts';

const TICK = 1_000;
const NO_RULE = { waitingRequests: null, tokenUsage: null };
const FIVE_WAITING = { waitingRequests: 5, tokenUsage: null };

/** What an engine does with a poll: this many waiting requests, a failure, or silence. */
type Mood = number | 'refused' | 'silent' | 'dumb';

const open: LoadMonitor[] = [];

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(async () => {
  for (const monitor of open.splice(0)) monitor.close();
  // Polls that were broken off settle.
  await vi.advanceTimersByTimeAsync(0);
  // Whatever was started has ended with the monitor.
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

function setUp(options: Partial<LoadMonitorOptions> = {}) {
  const bench = setUpRegistry();
  const moods = new Map<string, Mood>();
  const polls: string[] = [];
  let running = 0;
  let most = 0;
  const ask: typeof askWorker = async (spec: WorkerSpec, _address: string, { timeoutMs, signal }: AskOptions) => {
    polls.push(spec.url.id);
    running += 1;
    most = Math.max(most, running);
    const result = await answerOf(moods.get(spec.url.id) ?? 0, timeoutMs, signal);
    running -= 1;
    return result;
  };
  const told: string[] = [];
  let versions = 0;
  bench.registry.subscribe(() => {
    versions += 1;
  });
  const start = (): LoadMonitor => {
    const monitor = new LoadMonitor(bench.registry, {
      intervalMs: TICK,
      staleIntervals: 3,
      overload: NO_RULE,
      needed: () => true,
      random: () => 0,
      ask,
      observer: {
        polled: (worker, result) => void told.push(`${worker.id} ${result}`),
        reporting: (worker, reports) => void told.push(`${worker.id} reports ${reports}`),
        overloaded: (worker, overloaded) => void told.push(`${worker.id} overloaded ${overloaded}`),
      },
      ...options,
    });
    open.push(monitor);
    return monitor;
  };
  const engine = (id: string) => bench.instance(id).engine;
  const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
  return { ...bench, moods, polls, told, start, engine, pass, most: () => most, versions: () => versions };
}

async function answerOf(mood: Mood, timeoutMs: number, signal: AbortSignal): Promise<HttpResult> {
  if (mood === 'refused' || signal.aborted) return { kind: 'failed', reason: 'ECONNREFUSED' };
  if (mood === 'dumb') return { kind: 'answer', status: 404, body: Buffer.alloc(0), complete: true };
  if (mood === 'silent') {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve({ kind: 'timeout' }), timeoutMs);
      signal.addEventListener('abort', () => {
        clearTimeout(timer);
        resolve({ kind: 'failed', reason: 'aborted' });
      });
    });
  }
  const body = Buffer.from(JSON.stringify({ loads: [{ num_waiting_reqs: mood }] }));
  return { kind: 'answer', status: 200, body, complete: true };
}

describe('policies 3.1 polling', () => {
  it('asks ready workers at once, then each interval', async () => {
    const { ready, start, polls, pass, engine } = setUp();
    ready(A, B);
    start();

    await pass(0);
    expect(polls).toEqual([A, B]);

    await pass(3 * TICK);
    expect(polls.filter((id) => id === A)).toHaveLength(4);
    expect(engine(A).reports).toBe(4);
  });

  it('asks only ready workers, from the moment they are', async () => {
    const { registry, probe, start, polls, pass } = setUp();
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
    const { registry, ready, start, polls, pass } = setUp({ intervalMs: 10_000 });
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
    const { registry, ready, start, polls, pass } = setUp({ intervalMs: 10_000 });
    ready(A, B);
    registry.update(specOf(A, { models: [{ id: 'a' }], load_monitor_interval_secs: 1 }));
    registry.update(specOf(B, { models: [{ id: 'b' }] }));
    start();

    await pass(10_000);

    expect([A, B].map((id) => polls.filter((each) => each === id).length)).toEqual([11, 2]);
  });

  it('takes a new interval when a worker of the group declares one', async () => {
    const { registry, ready, start, polls, pass } = setUp({ intervalMs: 10_000 });
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
    const { ready, start, polls, pass, engine } = setUp({ needed: () => needed });
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
    const { registry, ready, start, polls, pass, worker } = setUp({ needed: () => false });
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
    const { ready, start, polls, pass, moods, most } = setUp();
    ready(A);
    moods.set(A, 'silent');
    start();

    await pass(12 * TICK);

    expect(most()).toBe(1);
    expect(polls).toHaveLength(3);
  });

  it('goes on with the others while many workers hang', async () => {
    const { ready, start, polls, pass, moods } = setUp();
    const hanging = Array.from({ length: 300 }, (_, index) => `http://10.1.${index >> 8}.${index & 255}:8000`);
    ready(...hanging, A);
    for (const id of hanging) moods.set(id, 'silent');
    start();

    await pass(10 * TICK);

    expect(polls.filter((id) => id === A).length).toBeGreaterThan(4);
  });

  it('drops what a poll brings when its worker was replaced or left meanwhile', async () => {
    const { registry, ready, probe, start, pass, moods, told, engine } = setUp();
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
    const { registry, ready, start, pass, moods, polls } = setUp();
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

describe('policies 3.4 freshness', () => {
  it.each(['refused', 'dumb'] as const)('forgets the current report at a poll without one: %s', async (mood) => {
    const { ready, start, pass, moods, engine } = setUp();
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
    const { ready, start, pass, moods, engine } = setUp({ staleIntervals });
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
    const { ready, start, pass, moods, engine } = setUp({ staleIntervals: 0 });
    ready(A);
    start();
    await pass(0);
    moods.set(A, 'refused');

    await pass(1_000 * TICK);

    expect(engine(A).recent).not.toBeNull();
  });

  it('forgets the reports of a worker that leaves ready', async () => {
    const { ready, probe, start, pass, engine } = setUp();
    ready(A);
    start();
    await pass(0);

    probe(A, '---');

    expect(engine(A)).toMatchObject({ current: null, recent: null });
  });

  it('tells each change between reporting and silence once', async () => {
    const { ready, start, pass, moods, told } = setUp();
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
    const { ready, start, pass, moods, worker, told } = setUp({ overload: FIVE_WAITING, needed: () => false });
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
    const { ready, start, pass, moods, worker } = setUp({ overload: FIVE_WAITING });
    ready(A);
    moods.set(A, 9);
    start();
    await pass(100);
    expect(worker(A).overloaded).toBe(true);

    moods.set(A, mood);
    await pass(mood === 'silent' ? 7 * TICK : TICK);
    expect(worker(A).overloaded).toBe(false);
  });

  it('ends when the worker leaves ready, and is judged anew when it returns', async () => {
    const { ready, probe, start, pass, moods, worker } = setUp({ overload: FIVE_WAITING });
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
    const { registry, ready, begin, end, start, pass, moods, worker } = setUp({ overload: FIVE_WAITING });
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
    const { registry, ready, start, pass, moods, worker } = setUp({ overload: FIVE_WAITING });
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
    const { ready, start, pass, moods, versions, registry } = setUp({ overload: FIVE_WAITING });
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
