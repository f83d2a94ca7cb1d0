import { describe, expect, it } from 'vitest';
import { makeWorker, TestLoad } from '../../../test/support/fleet.ts';
import { ASSIGNMENT_MODES } from '../assignment.ts';
import { createManualPolicy } from './manual.ts';
import { makePlacement, policySuite } from './policy.suite.ts';

for (const mode of ASSIGNMENT_MODES) describe(mode, () => policySuite('manual', () => createManualPolicy(mode)));

describe('policies 1.10 assignment of manual', () => {
  const loaded = (id: string, requests: number, keys: number) => {
    const load = new TestLoad();
    load.begin(null, requests);
    for (let key = 0; key < keys; key++) load.begin(`k${key}`);
    return makeWorker(id, { load });
  };
  // Requests: 6, 3, 4. Keys: 0, 2, 1.
  const members = [loaded('w0', 6, 0), loaded('w1', 1, 2), loaded('w2', 3, 1)];

  it.each([
    { mode: 'random', at: 'w2' },
    { mode: 'min_load', at: 'w1' },
    { mode: 'min_group', at: 'w0' },
    { mode: 'delegate', at: 'w1' },
  ] as const)('$mode: $at', ({ mode, at }) => {
    expect(createManualPolicy(mode).pick(makePlacement(members, {}, () => 0.99))?.id).toBe(at);
  });
});
