import { describe, expect, it } from 'vitest';
import { makeWorker } from '../../../test/support/fleet.ts';
import { ClusterLoadAssignment } from '../../gen/envoy/config/endpoint/v3/endpoint.ts';
import { FleetSnapshot } from '../../workers/fleet-snapshot.ts';
import { encodeEndpoints, endpointsOf, nameAssignment } from './fleet-endpoints.ts';
import { serverName } from './server-name.ts';

/** Port, name and transport metadata of each endpoint that a cluster gets of workers with these URLs. */
function told(cluster: string, ...urls: string[]) {
  const entries = urls.map((url, at) => ({
    worker: makeWorker(url, { url, address: `10.0.0.1:${at + 1}` }),
    modelsKnown: true,
  }));
  const fleet = FleetSnapshot.after(FleetSnapshot.empty, entries);
  const bytes = nameAssignment(cluster, encodeEndpoints(endpointsOf(fleet, 'url')));
  const { clusterName, endpoints = [] } = ClusterLoadAssignment.decode(bytes);
  expect(clusterName).toBe(cluster);
  return endpoints.flatMap(({ lbEndpoints = [] }) =>
    lbEndpoints.map(({ hostIdentifier, metadata }) => {
      const socket = hostIdentifier?.value.address?.address;
      const port = socket?.$case === 'socketAddress' ? socket.value.portSpecifier?.value : undefined;
      return [port, hostIdentifier?.value.hostname ?? '', metadata?.filterMetadata?.['envoy.transport_socket_match']];
    }),
  );
}

describe('decisions 45 endpoints', () => {
  const urls = ['http://a', 'https://b', 'https://10.0.0.9', 'grpc://c', 'grpcs://D.Example:9'];

  it.each(['workers', 'any other name'])('%s: all but gRPC workers, with TLS where their URLs say so', (cluster) => {
    expect(told(cluster, ...urls)).toEqual([
      [1, '', undefined],
      [2, 'b', { transport: 'tls' }],
      [3, '', { transport: 'tls' }],
    ]);
  });

  it('grpc_workers: gRPC workers', () => {
    expect(told('grpc_workers', ...urls)).toEqual([
      [4, '', undefined],
      [5, 'd.example', { transport: 'tls' }],
    ]);
    expect(told('grpc_workers', 'http://a')).toEqual([]);
  });

  it.each([
    ['http://a', null],
    ['grpc://a', null],
    ['https://a:1', 'a'],
    ['grpcs://A.b', 'a.b'],
    ['https://[::1]:2', ''],
    ['not a url', null],
  ])('%s is asked for as %j', (url, name) => {
    expect(serverName(url)).toBe(name);
  });
});
