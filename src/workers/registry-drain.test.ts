import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { A, B, setUpRegistry as setUp, specOf as spec, THRESHOLDS } from '../../test/support/registry-bench.ts';
import type { WorkerSnapshot } from './snapshot.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('decisions 40 drain', () => {
  it('keeps pins but takes no new keys, until it is taken back', () => {
    const { registry, ready, worker } = setUp();
    ready(A);

    expect(registry.drain(A)).toBe('ok');
    expect(registry.drain(A)).toBe('ok');
    expect(worker(A)).toMatchObject({ status: 'draining', placeable: false, keepsPins: true });

    expect(registry.undrain(A)).toBe('ok');
    expect(worker(A)).toMatchObject({ status: 'ready', placeable: true, keepsPins: true });
  });

  it('keeps pins only while probes succeed', () => {
    const { registry, ready, worker, probe } = setUp();
    ready(A);
    registry.drain(A);

    probe(A, '---');
    expect(worker(A)).toMatchObject({ status: 'draining', keepsPins: false });
    probe(A, '++');
    expect(worker(A)).toMatchObject({ status: 'draining', keepsPins: true });

    probe(A, '---');
    registry.undrain(A);
    expect(worker(A).status).toBe('not_ready');
  });

  it('keeps pins no longer than the deadline', () => {
    const { registry, ready, worker } = setUp({ drainDeadlineMs: 3_600_000 });
    ready(A);
    registry.drain(A);

    vi.advanceTimersByTime(3_599_999);
    expect(worker(A).keepsPins).toBe(true);
    vi.advanceTimersByTime(1);
    expect(worker(A)).toMatchObject({ status: 'draining', keepsPins: false });
  });

  it('forgets the deadline when the drain is taken back', () => {
    const { registry, ready, worker } = setUp({ drainDeadlineMs: 1_000 });
    ready(A);
    registry.drain(A);
    registry.undrain(A);

    vi.advanceTimersByTime(5_000);

    expect(worker(A)).toMatchObject({ status: 'ready', keepsPins: true });
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('decisions 40 removal', () => {
  it('is done at once with nothing in flight', () => {
    const { registry, ready, order } = setUp();
    ready(A, B);

    expect(registry.remove(A)).toBe('removed');
    expect(order()).toEqual([B]);
  });

  it('waits for requests in flight, without regard to pins', () => {
    const { registry, ready, begin, end, worker, order } = setUp();
    ready(A, B);
    begin(A);

    expect(registry.remove(A)).toBe('draining');
    expect(worker(A)).toMatchObject({ status: 'draining', placeable: false, keepsPins: false });
    expect(registry.add(spec(A), 'api').kind).toBe('exists');
    expect([registry.remove(A), registry.drain(A), registry.undrain(A)]).toEqual(['draining', 'removing', 'removing']);

    vi.advanceTimersByTime(1_000);
    expect(order()).toEqual([A, B]);
    end(A);
    vi.advanceTimersByTime(50);
    expect(order()).toEqual([B]);
  });

  it('waits no longer than --drain-settle-secs', () => {
    const { registry, ready, begin, order } = setUp({ drainSettleMs: 5_000 });
    ready(A);
    begin(A);
    registry.remove(A);

    vi.advanceTimersByTime(4_900);
    expect(order()).toEqual([A]);
    vi.advanceTimersByTime(100);
    expect(order()).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('follows a soft drain', () => {
    const { registry, ready, begin, worker } = setUp();
    ready(A);
    begin(A);
    registry.drain(A);

    expect(registry.remove(A)).toBe('draining');
    expect(worker(A).keepsPins).toBe(false);
  });

  it('leaves another instance behind when the worker returns (field-lessons R46)', () => {
    const { registry, ready, worker } = setUp();
    ready(A);
    const seen: WorkerSnapshot[] = [];
    registry.subscribe((snapshot) => seen.push(snapshot));
    const gone = registry.instance(A)!;
    const before = worker(A);

    registry.remove(A);
    registry.add(spec(A), 'api');

    expect(seen.map((snapshot) => snapshot.byId(A)?.status)).toEqual([undefined, 'pending']);
    expect(worker(A).load).not.toBe(before.load);
    registry.probed(gone, { at: 0, ok: true, detail: '', durationMs: 0 }, { ...THRESHOLDS, successThreshold: 1 }, true);
    registry.assumeReady(gone);
    registry.modelsAnswered(gone, ['x']);
    registry.resolved(gone, '1.1.1.1:1');
    expect(seen).toHaveLength(2);
    expect(worker(A).status).toBe('pending');
  });
});
