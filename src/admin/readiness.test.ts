import { expect, it } from 'vitest';
import { makeSnapshot, makeWorker } from '../../test/support/fleet.ts';
import type { WorkerStatus, WorkerType } from '../workers/worker-kinds.ts';
import { notReadyReason, readinessJson } from './readiness.ts';

const STATE = { draining: false, endOfRequest: 'access_log', sources: [], pinStore: null } as const;

it.each<[disaggregated: boolean, workers: readonly (readonly [WorkerType, WorkerStatus])[], ready: boolean]>([
  [false, [['regular', 'ready']], true],
  [
    false,
    [
      ['prefill', 'ready'],
      ['decode', 'ready'],
    ],
    false,
  ],
  [
    true,
    [
      ['prefill', 'ready'],
      ['decode', 'ready'],
    ],
    true,
  ],
  [
    true,
    [
      ['prefill', 'ready'],
      ['decode', 'not_ready'],
    ],
    false,
  ],
  [
    true,
    [
      ['prefill', 'failed'],
      ['decode', 'ready'],
    ],
    false,
  ],
  [true, [['regular', 'ready']], false],
  [true, [], false],
])('policies 2.4: split %s, with %j: ready %s', (disaggregated, workers, ready) => {
  const made = workers.map(([type, status]) => makeWorker(type, { type, status }));
  const fleet = { current: makeSnapshot(made, 1, disaggregated), settled: true, subscribe: () => () => {} };
  expect(notReadyReason(fleet, STATE)).toBe(ready ? null : 'no_ready_worker');
});

it('tells how far a shared store can be relied on, which takes no traffic away', () => {
  const fleet = {
    current: makeSnapshot([makeWorker('a', { status: 'ready' })], 1),
    settled: true,
    subscribe: () => () => {},
  };

  expect(
    readinessJson(fleet, { ...STATE, pinStore: { state: 'down', subscribed: false, provisional: 3 } }),
  ).toMatchObject({
    status: 'ready',
    pin_store: 'down',
    pin_store_subscribed: false,
    provisional_pins: 3,
  });
  expect(readinessJson(fleet, STATE)).not.toHaveProperty('pin_store');
});
