import { describe, expect, it } from 'vitest';
import { TestClock } from '../../../test/support/shared-pins.ts';
import { PendingPut, PendingPuts } from './pending-puts.ts';

const PUT = { key: 'k', name: 'n', candidates: ['w1'], over: 0, expected: 0 };

/** When a put is late that is never answered, of a process that did nothing until `pauseMs`. */
async function lateAt(timeoutMs: number, pauseMs: number): Promise<number> {
  const clock = new TestClock();
  let at = Number.NaN;
  const puts = new PendingPuts(
    clock,
    () => clock.now,
    (put) => {
      put.give({ candidates: put.candidates, version: -1 });
      at = clock.now;
    },
  );
  puts.add(new PendingPut(PUT, 0, timeoutMs));
  clock.now = pauseMs;
  await clock.pass(1000);
  return at;
}

describe('decisions 6: the bound of a new key', () => {
  it.each([
    ['is the wait', 50, 0, 50],
    ['stays where the process was late by a little', 50, 55, 55],
    ['gets half of itself after a pause of the process', 50, 80, 105],
    ['gets what is left of a decision where that is less', 200, 210, 225],
    ['is over where nothing is left of a decision', 50, 240, 240],
    ['is over where nothing is left of a decision, also for a long one', 200, 230, 230],
  ])('%s: %i ms, a pause of %i ms', async (_, timeoutMs, pauseMs, expected) => {
    expect(await lateAt(timeoutMs, pauseMs)).toBe(expected);
  });
});
