import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { A, B, C, EndpointBench, turn } from '../../../test/support/endpoint-bench.ts';
import { ClusterLoadAssignment } from '../../gen/envoy/config/endpoint/v3/endpoint.ts';
import type { Worker } from '../../workers/worker.ts';

const OPEN = { breaker: 'open', placeable: false, keepsPins: false } as const;
const OVERLOADED = { overloaded: true, placeable: false, keepsPins: false } as const;

let bench: EndpointBench;
beforeEach(() => {
  bench = new EndpointBench();
});
afterEach(() => {
  bench.service.close();
  vi.useRealTimers();
});

describe('decisions 24 health of a worker as Envoy is told', () => {
  it.each<[string, Partial<Worker>, string]>([
    ['breaker open', OPEN, 'DEGRADED'],
    ['overloaded', OVERLOADED, 'DEGRADED'],
    ['both', { ...OPEN, ...OVERLOADED }, 'DEGRADED'],
    ['breaker half-open', { breaker: 'half_open' }, 'HEALTHY'],
    ['breaker open, not ready', { ...OPEN, status: 'not_ready' }, 'UNHEALTHY'],
    ['overloaded, draining', { ...OVERLOADED, status: 'draining' }, 'DRAINING'],
  ])('%s: %s', async (_, state, health) => {
    await bench.change({ ...A, ...state }, B);

    expect(bench.shown().map((endpoint) => endpoint.health)).toEqual([health, 'HEALTHY']);
  });

  it('leaves degraded workers alone while a healthy one is left', () => {
    const envoy = bench.connect();
    envoy.subscribe();

    const { policy } = ClusterLoadAssignment.decode(envoy.responses[0]!.resources![0]!.value!);
    expect(policy).toEqual({ overprovisioningFactor: 1_000_000 });
  });
});

describe('workers that waver make no storm', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  });

  it('the first change goes out at once, what follows within a second waits, as one', async () => {
    const begin = bench.service.version;
    await bench.change({ ...A, ...OPEN }, B);
    expect(bench.service.version).toBe(begin + 1);

    await bench.change({ ...A, ...OPEN }, { ...B, ...OVERLOADED });
    await bench.change(A, { ...B, ...OVERLOADED });
    expect(bench.service.version).toBe(begin + 1);

    vi.advanceTimersByTime(999);
    expect(bench.service.version).toBe(begin + 1);
    vi.advanceTimersByTime(1);
    expect(bench.service.version).toBe(begin + 2);
    expect(bench.shown().map(({ health }) => health)).toEqual(['HEALTHY', 'DEGRADED']);
  });

  it('what comes back in time is never told', async () => {
    await bench.change({ ...A, ...OPEN }, B);
    const told = bench.service.version;
    await bench.change({ ...A, ...OPEN }, { ...B, ...OVERLOADED });
    await bench.change({ ...A, ...OPEN }, B);
    vi.advanceTimersByTime(5000);

    expect(bench.service.version).toBe(told);
  });

  it.each<[string, () => Worker[]]>([
    ['a worker that joins', () => [{ ...A, ...OPEN }, { ...B, ...OVERLOADED }, C]],
    ['one that leaves', () => [{ ...B, ...OVERLOADED }]],
    [
      'one that is out',
      () => [
        { ...A, ...OPEN },
        { ...B, status: 'not_ready' },
      ],
    ],
    [
      'a new address',
      () => [
        { ...A, ...OPEN },
        { ...B, ...OVERLOADED, address: '10.0.0.9:8000' },
      ],
    ],
    [
      'a new stamp',
      () => [
        { ...A, ...OPEN },
        { ...B, ...OVERLOADED, id: 'http://renamed:1', url: 'http://renamed:1' },
      ],
    ],
    [
      'another order',
      () => [
        { ...B, ...OVERLOADED },
        { ...A, ...OPEN },
      ],
    ],
  ])('%s does not wait', async (_, workers) => {
    await bench.change({ ...A, ...OPEN }, B);
    const told = bench.service.version;
    await bench.change(...workers());

    expect(bench.service.version).toBe(told + 1);
  });

  it('a wait ends with the service', async () => {
    await bench.change({ ...A, ...OPEN }, B);
    await bench.change(A, { ...B, ...OPEN });
    expect(vi.getTimerCount()).toBe(1);

    bench.service.close();
    await turn();

    expect(vi.getTimerCount()).toBe(0);
  });
});
