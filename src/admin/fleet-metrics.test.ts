import { beforeEach, describe, expect, it } from 'vitest';
import type { TestLoad } from '../../test/support/fleet.ts';
import { makeSnapshot, makeWorker } from '../../test/support/fleet.ts';
import { parseExposition } from '../../test/support/parse-exposition.ts';
import { MemoryPinStore } from '../pins/memory-pin-store.ts';
import { createMetrics, renderMetrics } from '../telemetry/metrics.ts';
import type { WorkerSnapshot } from '../workers/snapshot.ts';
import type { SnapshotSource } from '../workers/snapshot-source.ts';
import type { Worker } from '../workers/worker.ts';
import { bindFleetMetrics, bindPinMetrics } from './fleet-metrics.ts';

class Source implements SnapshotSource {
  current: WorkerSnapshot = makeSnapshot([]);
  readonly settled = true;
  readonly listeners = new Set<(snapshot: WorkerSnapshot) => void>();

  subscribe(listener: (snapshot: WorkerSnapshot) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  set(...workers: Worker[]): void {
    this.current = makeSnapshot(workers);
    for (const listener of this.listeners) listener(this.current);
  }
}

describe('policies 8.2 gauges of the fleet', () => {
  let metrics = createMetrics();
  let source = new Source();

  const samples = (name: string) =>
    parseExposition(renderMetrics(metrics))
      .samples.filter((sample) => sample.name === name)
      .map(({ labels, value }) => [...Object.values(labels), value]);

  beforeEach(() => {
    metrics = createMetrics();
    source = new Source();
  });

  it('tell health as 1, 0, and -1 once a worker is removed, until it returns', () => {
    bindFleetMetrics(metrics, source);
    const a = makeWorker('http://a:1');
    const b = makeWorker('http://b:1', { status: 'not_ready' });

    source.set(a, b);
    expect(samples('smg_worker_health')).toEqual([
      ['http://a:1', 1],
      ['http://b:1', 0],
    ]);

    source.set(b);
    expect(samples('smg_worker_health')).toEqual([
      ['http://b:1', 0],
      ['http://a:1', -1],
    ]);

    source.set(a);
    expect(samples('smg_worker_health')).toEqual([
      ['http://a:1', 1],
      ['http://b:1', -1],
    ]);
  });

  it('know the workers that were there before the binding', () => {
    source.set(makeWorker('http://a:1'));
    bindFleetMetrics(metrics, source);

    source.set();

    expect(samples('smg_worker_health')).toEqual([['http://a:1', -1]]);
  });

  it('an engine that becomes its ranks is not a removed worker', () => {
    bindFleetMetrics(metrics, source);
    source.set(makeWorker('http://a:1'));
    source.set(makeWorker('http://a:1@0', { url: 'http://a:1', rank: 0 }));

    expect(samples('smg_worker_health')).toEqual([['http://a:1@0', 1]]);
  });

  it('forget the oldest of more than 1,024 removed workers', () => {
    bindFleetMetrics(metrics, source);

    for (let i = 0; i < 1030; i++) source.set(makeWorker(`http://w${i}:1`));

    const told = samples('smg_worker_health');
    expect(told).toHaveLength(1 + 1024);
    expect(told).not.toContainEqual(['http://w0:1', -1]);
  });

  it('follow requests and keys in flight at the moment of the scrape', () => {
    bindFleetMetrics(metrics, source);
    const worker = makeWorker('http://a:1');
    const load = worker.load as TestLoad;
    source.set(worker);

    expect(samples('smg_worker_requests_active')).toEqual([['http://a:1', 0]]);
    load.begin('k1');
    load.begin('k1');
    load.begin();
    expect(samples('smg_worker_requests_active')).toEqual([['http://a:1', 3]]);
    expect(samples('smg_worker_routing_keys_active')).toEqual([['http://a:1', 1]]);

    source.set();
    expect(samples('smg_worker_requests_active')).toEqual([]);
  });

  it('count pools by model and workers by status', () => {
    bindFleetMetrics(metrics, source);
    source.set(
      makeWorker('http://a:1', { models: ['m', 'n'] }),
      makeWorker('http://b:1', { models: ['m'], status: 'failed' }),
      makeWorker('http://c:1', { status: 'draining' }),
    );

    expect(samples('smg_worker_pool_size')).toEqual([
      ['regular', 'http', 'm', 2],
      ['regular', 'http', 'n', 1],
      ['regular', 'http', 'unknown', 1],
    ]);
    expect(samples('smg_envoy_workers')).toEqual([
      ['pending', 0],
      ['ready', 1],
      ['not_ready', 0],
      ['failed', 1],
      ['draining', 1],
    ]);
  });

  it('count the overloaded workers of each model', () => {
    bindFleetMetrics(metrics, source);
    source.set(
      makeWorker('http://a:1', { models: ['m', 'n'], overloaded: true }),
      makeWorker('http://b:1', { models: ['m'], overloaded: true }),
      makeWorker('http://c:1', { models: ['p'] }),
    );

    expect(samples('smg_workers_overloaded')).toEqual([
      ['m', 2],
      ['n', 1],
      ['p', 0],
    ]);
  });

  it('leave the source alone after the undo', () => {
    const undo = bindFleetMetrics(metrics, source);

    undo();

    expect(source.listeners.size).toBe(0);
  });
});

describe('gauges of the pins', () => {
  it('show what the store holds now, and what left it', () => {
    const metrics = createMetrics();
    const store = new MemoryPinStore({ maxPins: 2 });
    bindPinMetrics(metrics, store);

    for (const key of ['a', 'b', 'c']) void store.put(key, ['http://a:1'], 0, 1);
    const text = renderMetrics(metrics);

    expect(text).toContain('\nsmg_manual_policy_cache_entries 2\n');
    expect(text).toContain('\nsmg_envoy_pins{store="memory"} 2\n');
    expect(text).toContain('\nsmg_envoy_pin_evictions_total{store="memory"} 1\n');
  });
});
