import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { QuietTime } from './quiet-time.ts';

describe('quiet time', () => {
  let runs: number;
  let quiet: QuietTime;

  beforeEach(() => {
    vi.useFakeTimers();
    runs = 0;
    quiet = new QuietTime({ quietMs: 300, longestMs: 2000, run: () => runs++ });
  });

  afterEach(() => {
    quiet.close();
    vi.useRealTimers();
  });

  it('runs once, when nothing happened for that long', () => {
    quiet.touch();
    vi.advanceTimersByTime(299);
    quiet.touch();
    vi.advanceTimersByTime(299);
    expect(runs).toBe(0);

    vi.advanceTimersByTime(1);
    expect(runs).toBe(1);
    vi.advanceTimersByTime(10_000);
    expect(runs).toBe(1);
  });

  it('does not wait for the end of a burst that has none', () => {
    for (let ms = 0; ms < 6000; ms += 100) {
      quiet.touch();
      vi.advanceTimersByTime(100);
    }

    expect(runs).toBe(3);
  });

  it('does nothing once it is closed', () => {
    quiet.touch();
    quiet.close();
    quiet.touch();
    vi.advanceTimersByTime(10_000);

    expect(runs).toBe(0);
  });
});
