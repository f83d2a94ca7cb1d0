import { expect, vi } from 'vitest';
import type { AskOptions, askWorker } from '../../src/workers/ask-worker.ts';
import type { HttpResult } from '../../src/workers/http-request.ts';
import { LoadMonitor, type LoadMonitorOptions } from '../../src/workers/load/load-monitor.ts';
import type { WorkerSpec } from '../../src/workers/worker-spec.ts';
import { setUpRegistry } from './registry-bench.ts';

/** Interval of the monitor, in milliseconds. */
export const TICK = 1_000;
const NO_RULE = { waitingRequests: null, tokenUsage: null };
export const FIVE_WAITING = { waitingRequests: 5, tokenUsage: null };

/** What an engine does with a poll: this many waiting requests, a failure, or silence. */
export type Mood = number | 'refused' | 'silent' | 'dumb';

const open: LoadMonitor[] = [];

/** Ends the monitors of a test, which runs on fake timers: whatever they started has ended with them. */
export async function endMonitors(): Promise<void> {
  for (const monitor of open.splice(0)) monitor.close();
  // Polls that were broken off settle.
  await vi.advanceTimersByTimeAsync(0);
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
}

/** A load monitor over a registry that is driven by hand, and engines whose mood a test sets. Needs fake timers. */
export function setUpLoads(options: Partial<LoadMonitorOptions> = {}) {
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
