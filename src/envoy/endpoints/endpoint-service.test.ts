import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { A, B, C, EndpointBench, turn } from '../../../test/support/endpoint-bench.ts';
import { makeWorker } from '../../../test/support/fleet.ts';
import { EDS_TYPE, endpointsIn } from '../../../test/support/xds-envoy.ts';
import type { Worker } from '../../workers/worker.ts';
import type { WorkerStatus } from '../../workers/worker-kinds.ts';
import { type StampKind, workerStamp } from './worker-stamp.ts';

let bench: EndpointBench;
beforeEach(() => {
  bench = new EndpointBench();
});
afterEach(() => bench.service.close());

describe('envoy 8.1 protocol', () => {
  it.each(['StreamEndpoints', 'StreamAggregatedResources'])('%s serves the fleet', (name) => {
    const envoy = bench.connect(name);
    envoy.subscribe();

    expect(envoy.responses).toMatchObject([
      { versionInfo: '1', nonce: '1', typeUrl: 'type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment' },
    ]);
    expect(envoy.ack()).toEqual([
      { address: '10.0.0.1 8000', health: 'HEALTHY', worker: { id: A.id, stamp: A.id } },
      { address: '10.0.0.2 8000', health: 'HEALTHY', worker: { id: B.id, stamp: B.id } },
    ]);
    expect(envoy.unanswered).toBe(0);
  });

  it('an endpoint stream may leave the type out, an aggregated one may not', () => {
    const [eds, ads] = [bench.connect('StreamEndpoints'), bench.connect('StreamAggregatedResources')];
    eds.subscribe(['workers'], '');
    ads.subscribe(['workers'], '');

    expect(eds.responses).toHaveLength(1);
    expect(ads.responses).toHaveLength(0);
  });

  it('gives every name that is asked for the whole fleet under that name', () => {
    const envoy = bench.connect();
    envoy.subscribe(['workers', 'other']);

    const [workers, other] = endpointsIn(envoy.responses[0]!);
    expect([workers?.name, other?.name]).toEqual(['workers', 'other']);
    expect(other?.endpoints).toEqual(workers?.endpoints);
    expect(other?.endpoints).toHaveLength(2);
  });

  it('stays silent on resources of other types, counted', () => {
    const envoy = bench.connect();
    envoy.subscribe(['x'], 'type.googleapis.com/envoy.config.cluster.v3.Cluster');

    expect(envoy.responses).toHaveLength(0);
    expect(bench.service.otherRequests).toBe(1);
    expect(bench.service.clients).toEqual([]);
  });

  it('an ACK is no question', () => {
    const envoy = bench.connect();
    envoy.subscribe();
    envoy.ack();

    expect(envoy.responses).toHaveLength(1);
    expect(bench.service.acks).toBe(1);
    expect(bench.service.clients).toEqual([{ node: 'envoy-1', version: '1', current: true }]);
  });

  it('a NACK keeps its text, is not answered with the same again, and ends with the next version', async () => {
    const envoy = bench.connect();
    envoy.subscribe();
    envoy.ack();
    await bench.change(A);
    envoy.nack('malformed IP address');

    const nack = { node: 'envoy-1', version: '2', message: 'malformed IP address' };
    expect(bench.service.lastNack).toEqual(nack);
    expect(bench.nacks).toEqual([nack]);
    expect(bench.service.nacks).toBe(1);
    expect(envoy.unanswered).toBe(0);
    expect(bench.service.clients).toEqual([{ node: 'envoy-1', version: '1', current: false }]);

    await bench.change(A, C);
    expect(envoy.ack()).toHaveLength(2);
    expect(bench.service.clients).toEqual([{ node: 'envoy-1', version: '3', current: true }]);
  });

  it('a changed subscription is answered although nothing else changed', () => {
    const envoy = bench.connect();
    envoy.subscribe();
    envoy.ack();
    envoy.rename(['workers', 'more']);

    expect(endpointsIn(envoy.responses[1]!).map(({ name }) => name)).toEqual(['workers', 'more']);
  });

  it('a subscription that was given up gets nothing and counts for nothing', async () => {
    const envoy = bench.connect();
    envoy.subscribe();
    envoy.ack();
    envoy.rename([]);
    await bench.change(A);

    expect(envoy.unanswered).toBe(0);
    expect(bench.service.clients).toEqual([]);
  });

  it('an answer to an older response is ignored', async () => {
    const envoy = bench.connect();
    envoy.subscribe();
    envoy.ack();
    await bench.change(A);
    envoy.raw({ typeUrl: EDS_TYPE, resourceNames: ['stale'], responseNonce: '1', errorDetail: { message: 'late' } });

    expect(envoy.responses).toHaveLength(2);
    expect(bench.service.nacks).toBe(0);
    expect(bench.service.clients).toEqual([{ node: 'envoy-1', version: '1', current: false }]);
  });

  it('a stream that begins with the nonce and version of an earlier one is served', () => {
    const envoy = bench.connect();
    envoy.raw({ typeUrl: EDS_TYPE, resourceNames: ['workers'], responseNonce: '17', versionInfo: '99' });

    expect(envoy.responses).toHaveLength(1);
  });

  it('while an answer is due, later changes wait and go out together', async () => {
    const envoy = bench.connect();
    envoy.subscribe();
    await bench.change(A);
    await bench.change(A, C);
    expect(envoy.responses).toHaveLength(1);

    envoy.ack();
    expect(envoy.responses[1]?.versionInfo).toBe('3');
    expect(envoy.ack()).toHaveLength(2);
    expect(envoy.unanswered).toBe(0);
  });

  it('bytes that are no request end the stream', () => {
    const envoy = bench.connect();
    envoy.call.receive(Buffer.from([0x0a, 0xff]));

    expect(envoy.call.status).toBe(3);
    expect(bench.service.clients).toEqual([]);
  });

  it('half-close and close end streams with OK', () => {
    const [first, second] = [bench.connect(), bench.connect()];
    first.call.halfClose();
    bench.service.close();

    expect([first.call.status, second.call.status]).toEqual([0, 0]);
    expect(bench.source.listeners.size).toBe(0);
  });
});

describe('decisions 24 health', () => {
  it.each<[WorkerStatus, string]>([
    ['ready', 'HEALTHY'],
    ['draining', 'DRAINING'],
    ['pending', 'UNHEALTHY'],
    ['not_ready', 'UNHEALTHY'],
    ['failed', 'UNHEALTHY'],
  ])('%s is %s', async (status, health) => {
    await bench.change({ ...A, status });

    expect(bench.shown()).toMatchObject([{ health }]);
  });
});

describe('decisions 22 stamp', () => {
  const worker = makeWorker('http://a:8000', { name: 'alpha', address: '10.0.0.1:8000' });
  const hash = createHash('sha256').update(worker.id).digest('hex').slice(0, 16);
  const rank = (id: number): Worker =>
    makeWorker(`${worker.id}@${id}`, { url: worker.id, rank: id, name: `alpha@${id}`, address: worker.address });

  it.each<[StampKind, object]>([
    ['url', { id: worker.id, stamp: worker.id }],
    ['name', { id: worker.id, stamp: 'alpha' }],
    ['hash', { id: worker.id, stamp: hash }],
    ['off', { id: worker.id }],
  ])('%s', (stampKind, metadata) => {
    bench.source.set(worker);
    bench.serve(stampKind);

    expect(bench.shown()).toMatchObject([{ worker: metadata }]);
    // Ranks are what their engine would be; which of them served stands in the request (decisions 46).
    bench.source.set(rank(0), rank(1));
    bench.serve(stampKind);
    expect(bench.shown()).toMatchObject([{ worker: metadata }]);
  });

  it.each<[StampKind, number | null, string]>([
    ['url', 1, 'http://a:8000@1'],
    ['url', null, 'http://a:8000'],
    ['name', 12, 'alpha@12'],
    ['hash', 0, `${hash}@0`],
    ['off', 1, ''],
  ])('%s with rank %s named is "%s"', (kind, named, stamp) => {
    expect(workerStamp(rank(12), kind, named)).toBe(stamp);
    expect(workerStamp(worker, kind, named)).toBe(stamp);
  });
});

describe('which workers become endpoints', () => {
  it('IPv6 without brackets, unresolved names not at all, a shared address once for the first registered', async () => {
    const unresolved = makeWorker('http://name:1', { address: '' });
    const second = makeWorker('http://a-too:8000', { address: A.address, status: 'failed' });
    await bench.change(C, unresolved, A, second);

    expect(bench.shown()).toEqual([
      { address: 'fd00::3 8000', health: 'HEALTHY', worker: { id: C.id, stamp: C.id } },
      { address: '10.0.0.1 8000', health: 'HEALTHY', worker: { id: A.id, stamp: A.id } },
    ]);
  });
});

describe('decisions 46 the ranks of an engine are one endpoint', () => {
  const rank = (id: number, more: Partial<Worker> = {}): Worker =>
    makeWorker(`http://e:1@${id}`, { url: 'http://e:1', rank: id, address: '10.0.0.5:1', ...more });
  const open = { breaker: 'open' } as const;

  it.each<[string, Worker[], string]>([
    ['all ready', [rank(0), rank(1)], 'HEALTHY'],
    ['one ready', [rank(0, { status: 'not_ready' }), rank(1, open), rank(2)], 'HEALTHY'],
    ['the first ready', [rank(0), rank(1, open), rank(2, { status: 'not_ready' })], 'HEALTHY'],
    ['one strained, the others out', [rank(0, { status: 'failed' }), rank(1, open)], 'DEGRADED'],
    ['one drains, the other is out', [rank(0, { status: 'pending' }), rank(1, { status: 'draining' })], 'DRAINING'],
    ['none', [rank(0, { status: 'pending' }), rank(1, { status: 'failed' })], 'UNHEALTHY'],
  ])('as healthy as the best: %s', async (_, ranks, health) => {
    await bench.change(...ranks);

    expect(bench.shown()).toEqual([
      { address: '10.0.0.5 1', health, worker: { id: 'http://e:1', stamp: 'http://e:1' } },
    ]);
  });

  it('an engine that tells its ranks changes nothing for Envoy', async () => {
    await bench.change(makeWorker('http://e:1', { address: '10.0.0.5:1' }));
    const { version } = bench.service;
    await bench.change(rank(0), rank(1));

    expect(bench.service.version).toBe(version);
  });
});

describe('versions', () => {
  it('changes of one turn are one version', async () => {
    const envoy = bench.connect();
    envoy.subscribe();
    envoy.ack();
    bench.source.set(A);
    bench.source.set(A, C);
    bench.source.set(C);
    await turn();

    expect(bench.service.version).toBe(2);
    expect(envoy.ack()).toMatchObject([{ address: 'fd00::3 8000' }]);
    expect(envoy.unanswered).toBe(0);
  });

  it('a change that endpoints do not show is none', async () => {
    await bench.change({ ...A, priority: 99, labels: { zone: 'b' } }, B);

    expect(bench.service.version).toBe(1);
  });

  it('nothing follows after close', async () => {
    bench.source.set(C);
    bench.service.close();
    await turn();

    expect(bench.service.version).toBe(1);
  });
});
