import { expect, it } from 'vitest';
import { makeSnapshot, makeWorker } from '../../../test/support/fleet.ts';
import { HealthStatus } from '../../gen/envoy/config/core/v3/health_check.ts';
import { ClusterLoadAssignment } from '../../gen/envoy/config/endpoint/v3/endpoint.ts';
import type { WorkerType } from '../../workers/worker-kinds.ts';
import { encodeEndpoints, endpointsOf, nameAssignment } from './fleet-endpoints.ts';

const TYPES: readonly WorkerType[] = ['regular', 'prefill', 'decode'];

const NAMES = new Map<HealthStatus, string>([
  [HealthStatus.HEALTHY, 'HEALTHY'],
  [HealthStatus.UNHEALTHY, 'UNHEALTHY'],
]);

/** What Envoy is told of one ready worker of each type. */
function shown(disaggregated: boolean) {
  const workers = TYPES.map((type) => makeWorker(type, { type, url: type }));
  const endpoints = endpointsOf(makeSnapshot(workers, 1, disaggregated), 'url');
  return Object.fromEntries([...endpoints.values()].map(({ workerId, health }) => [workerId, NAMES.get(health)]));
}

it('decisions 24: Envoy alone chooses among decode workers, and picks reach prefill workers too', () => {
  expect(shown(true)).toEqual({ prefill: 'UNHEALTHY', decode: 'HEALTHY' });
});

it('their leg is told in the namespace that subsets are made by; without legs, nothing', () => {
  const told = (types: readonly WorkerType[], disaggregated: boolean) => {
    const workers = types.map((type) => makeWorker(type, { type, url: type }));
    const encoded = encodeEndpoints(endpointsOf(makeSnapshot(workers, 1, disaggregated), 'url'));
    return (ClusterLoadAssignment.decode(nameAssignment('workers', encoded)).endpoints ?? [])
      .flatMap(({ lbEndpoints = [] }) => lbEndpoints)
      .map(({ metadata }) => metadata?.filterMetadata?.['envoy.lb']);
  };
  expect(told(['prefill', 'decode'], true)).toEqual([{ leg: 'prefill' }, { leg: 'decode' }]);
  expect(told(['regular'], false)).toEqual([undefined]);
});

it('workers of types that take no requests are not told', () => {
  expect(shown(false)).toEqual({ regular: 'HEALTHY' });
});

it('decisions 27: the cluster of mirrored requests has the prefill workers alone', () => {
  const workers = [...TYPES, 'decode' as const].map((type, at) =>
    makeWorker(`${type}-${at}`, { type, url: `${type}-${at}` }),
  );
  const encoded = encodeEndpoints(endpointsOf(makeSnapshot(workers, 1, true), 'url'));
  const told = (cluster: string) =>
    (ClusterLoadAssignment.decode(nameAssignment(cluster, encoded)).endpoints ?? [])
      .flatMap(({ lbEndpoints = [] }) => lbEndpoints)
      .map(({ metadata }) => metadata?.filterMetadata?.['worker']?.['id']);

  expect(told('prefill_workers')).toEqual(['prefill-1']);
  expect(told('workers')).toEqual(['prefill-1', 'decode-2', 'decode-3']);
});
