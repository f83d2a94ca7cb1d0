import { describe, expect, it } from 'vitest';
import { makeWorker } from '../../test/support/fleet.ts';
import { FleetSnapshot } from './fleet-snapshot.ts';
import type { FleetEntry } from './model-pools.ts';
import type { Worker } from './worker.ts';
import type { WorkerType } from './worker-kinds.ts';

const entry = (id: string, type: WorkerType, models: readonly string[], more: Partial<Worker> = {}): FleetEntry => ({
  worker: makeWorker(id, { type, models, ...more }),
  modelsKnown: true,
});
const MIXED = [
  entry('r', 'regular', ['x']),
  entry('p1', 'prefill', ['m']),
  entry('d1', 'decode', ['m']),
  entry('p2', 'prefill', ['m']),
];
const snapshotOf = (disaggregated: boolean, entries: readonly FleetEntry[]) =>
  FleetSnapshot.after(FleetSnapshot.start(disaggregated), entries);
const ids = (snapshot: FleetSnapshot, model: string, type: WorkerType) =>
  snapshot.pool(model, type)?.members.map((worker) => worker.id);

describe('policies 2.4 and 4: workers by type', () => {
  it.each([true, false])('each type has pools of its own (disaggregated %s)', (disaggregated) => {
    const snapshot = snapshotOf(disaggregated, MIXED);

    expect(ids(snapshot, 'm', 'prefill')).toEqual(['p1', 'p2']);
    expect(ids(snapshot, 'm', 'decode')).toEqual(['d1']);
    expect(ids(snapshot, 'm', 'regular')).toBeUndefined();
    expect(ids(snapshot, '', 'regular')).toEqual(['r']);
    expect(snapshot.pool('x')?.memberIds).toEqual(['r']);
  });

  it.each([
    [true, ['p1', 'd1', 'p2'], ['m'], 'm'],
    [false, ['r'], ['x'], 'x'],
  ])('disaggregated %s: requests and models are those of %j', (disaggregated, serving, models, sole) => {
    const snapshot = snapshotOf(disaggregated, MIXED);

    expect(snapshot.workers.filter((worker) => snapshot.serves(worker)).map(({ id }) => id)).toEqual(serving);
    expect(snapshot).toMatchObject({ disaggregated, models, uniform: true, soleModel: sole });
  });

  it('legs with different models are not uniform', () => {
    const snapshot = snapshotOf(true, [entry('p', 'prefill', ['m']), entry('d', 'decode', ['m', 'n'])]);

    expect(snapshot).toMatchObject({ uniform: false, soleModel: '' });
  });

  it('the pools of one type stay while another changes', () => {
    const before = snapshotOf(true, MIXED);
    const after = FleetSnapshot.after(before, [...MIXED, entry('d2', 'decode', ['m'])]);

    expect(after.pool('m', 'prefill')).toBe(before.pool('m', 'prefill'));
    expect(after.pool('m', 'decode')).not.toBe(before.pool('m', 'decode'));
    expect(after.disaggregated).toBe(true);
  });
});
