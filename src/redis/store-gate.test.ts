import { describe, expect, it } from 'vitest';
import { StoreGate } from './store-gate.ts';

const BOUND = 50;

/** `a` answered in time, `f` late or failed, `b` so at the moment of the last, `l` lost, a number: a probe answered after so many ms. */
function after(...events: readonly (string | number)[]): string {
  const gate = new StoreGate();
  let now = 0;
  for (const event of events) {
    if (event !== 'b') now += BOUND;
    if (typeof event === 'number') gate.probed(event, BOUND);
    else if (event === 'a') gate.answered();
    else if (event === 'f' || event === 'b') gate.failed(now, BOUND);
    else gate.lost();
  }
  return gate.state;
}

describe('decisions 6 breaker of the store', () => {
  it.each([
    ['begins shut off', [], 'down'],
    ['a probe in time closes it', [BOUND], 'up'],
    ['a late probe says that it is slow', [51], 'slow'],
    ['slow gets well', [51, 3], 'up'],
    ['three late or failed calls in a row open it', [1, 'f', 'f', 'f'], 'down'],
    ['two do not', [1, 'f', 'f'], 'up'],
    ['many of one moment are one', [1, 'f', 'b', 'b', 'b', 'f', 'b'], 'up'],
    ['three moments open it', [1, 'f', 'b', 'f', 'b', 'f'], 'down'],
    ['an answer in between begins the count anew', [1, 'f', 'f', 'a', 'f', 'f'], 'up'],
    ['a probe in time does so too', [1, 'f', 'f', 2, 'f', 'f'], 'up'],
    ['a closed one counts from nothing', [1, 'f', 'f', 'f', 1, 'f', 'f'], 'up'],
    ['a lost connection opens it at once', [1, 'l'], 'down'],
    ['one late probe is not yet slow', [1, 99, 99], 'up'],
    ['three are', [1, 99, 99, 99], 'slow'],
    ['late calls and late probes count together', [1, 'f', 99, 'f'], 'down'],
    ['only a probe closes it', [1, 'l', 'a', 'a'], 'down'],
    ['answers do not make slow well', [51, 'a', 'a'], 'slow'],
    ['failures of calls that are not waited for leave slow as it is', [51, 'f', 'f', 'f'], 'slow'],
    ['slow can be lost', [51, 'l'], 'down'],
  ] as const)('%s', (_, events, state) => {
    expect(after(...events)).toBe(state);
  });
});
