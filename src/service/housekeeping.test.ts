import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { PickerBench } from '../../test/support/picker-bench.ts';
import type { Policy } from '../routing/policy.ts';
import { POLICY_FACTS } from '../routing/policy-facts.ts';
import { createLog } from '../telemetry/log.ts';
import { Housekeeping, type HousekeepingIntervals } from './housekeeping.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setImmediate', 'clearImmediate'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A policy whose memory has the given pieces of work at each visit. */
function remembering(pieces: number, visits: string[], name: string): Policy {
  let left = pieces;
  return {
    name: 'cache_aware',
    facts: POLICY_FACTS.cache_aware,
    pick: () => null,
    next: () => null,
    memory: {
      learn: () => {},
      forget: () => {},
      tend: () => {
        visits.push(name);
        left = left === 0 ? pieces : left - 1;
        return left > 0;
      },
      sizes: () => [],
    },
  };
}

function house(all: readonly Policy[], intervals: Partial<HousekeepingIntervals> = {}) {
  const bench = new PickerBench();
  const { ledger, ends, local: pins, metrics } = bench;
  const log = createLog({ level: 'error', json: true, destination: { write: () => {} } });
  const defaults = { maxIdleSecs: 0, pinSweepSecs: 0, policyTendSecs: 10 };
  const keeping = new Housekeeping(
    { ledger, ends, pins, policies: { all }, metrics, log, clock: () => bench.now },
    { ...defaults, ...intervals },
  );
  return { bench, keeping };
}

describe('memories of policies', () => {
  it('are tended one piece at a time, requests in between', () => {
    const visits: string[] = [];
    const { keeping } = house([remembering(2, visits, 'a'), remembering(1, visits, 'b')]);

    vi.advanceTimersByTime(10_000);
    keeping.close();

    expect(visits).toEqual(['a']);
  });

  it('are all done before the next visit begins', () => {
    const visits: string[] = [];
    const { keeping } = house([remembering(3, visits, 'a'), remembering(2, visits, 'b')]);

    vi.advanceTimersByTime(10_500);
    keeping.close();

    expect(visits).toEqual(['a', 'a', 'a', 'b', 'b']);
  });

  it('are tended at the interval of SMG where sweeps are off, since they must stay within their bounds', () => {
    const visits: string[] = [];
    const { keeping } = house([remembering(1, visits, 'a')], { policyTendSecs: 0 });

    vi.advanceTimersByTime(29_000);
    expect(visits).toEqual([]);
    vi.advanceTimersByTime(1_500);
    keeping.close();

    expect(visits).toEqual(['a']);
  });

  it('are left alone after the end', () => {
    const visits: string[] = [];
    const { keeping } = house([remembering(5, visits, 'a')]);
    vi.advanceTimersByTime(10_000);

    keeping.close();
    vi.advanceTimersByTime(60_000);

    expect(visits).toEqual(['a']);
  });

  it('go by a new interval at once', () => {
    const visits: string[] = [];
    const { keeping } = house([remembering(1, visits, 'a')]);

    keeping.configure({ maxIdleSecs: 0, pinSweepSecs: 0, policyTendSecs: 1 });
    vi.advanceTimersByTime(1_000);
    keeping.close();

    expect(visits).toEqual(['a']);
  });
});

describe('sticky-sessions 3.11 idle pins', () => {
  it('leave at a sweep once they were idle for long enough', () => {
    const { bench, keeping } = house([], { maxIdleSecs: 100, pinSweepSecs: 60 });
    bench.local.put('k', ['A'], 0, bench.now);

    bench.now += 99_999;
    vi.advanceTimersByTime(60_000);
    expect(bench.local.size).toBe(1);

    bench.now += 1;
    vi.advanceTimersByTime(60_000);
    keeping.close();
    expect(bench.local.size).toBe(0);
  });

  it.each([{ maxIdleSecs: 0 }, { pinSweepSecs: 0 }])('stay with %j', (off) => {
    const { bench, keeping } = house([], { maxIdleSecs: 100, pinSweepSecs: 60, ...off });
    bench.local.put('k', ['A'], 0, bench.now);

    bench.now += 1_000_000;
    vi.advanceTimersByTime(600_000);
    keeping.close();

    expect(bench.local.size).toBe(1);
  });
});
