import { describe, expect, it } from 'vitest';
import { isRetried, retryDelayMs } from './retry-delay.ts';

const SMG = { mostTries: 5, initialMs: 50, maxMs: 30_000, multiplier: 1.5, jitter: 0.2 };

describe('policies 5', () => {
  it.each([
    [1, 0.5, 50],
    [2, 0.5, 75],
    [3, 0.5, 112.5],
    [1, 0, 40],
    [1, 1, 60],
    [100, 0.5, 30_000],
    [100, 1, 36_000],
  ])('pause after %i failed tries, chance %d: %d ms', (failed, chance, ms) => {
    expect(retryDelayMs(SMG, failed, () => chance)).toBeCloseTo(ms);
  });

  it('exactly these statuses are tried again', () => {
    const retried = Array.from({ length: 600 }, (_, status) => status).filter(isRetried);
    expect(retried).toEqual([408, 429, 500, 502, 503, 504]);
  });
});
