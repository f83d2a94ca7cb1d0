import { HealthStatus } from '../../src/gen/envoy/config/core/v3/health_check.ts';
import { ClusterLoadAssignment } from '../../src/gen/envoy/config/endpoint/v3/endpoint.ts';
import { DiscoveryRequest, DiscoveryResponse } from '../../src/gen/envoy/service/discovery/v3/discovery.ts';
import type { Method } from '../../src/transport/transport.ts';
import { FakeCall } from './fake-call.ts';

export const EDS_TYPE = 'type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment';

/** One endpoint as Envoy would hold it. */
export interface HeldEndpoint {
  readonly address: string;
  readonly health: string;
  readonly worker: unknown;
}

/** A state-of-the-world xDS client over a fake call, as far as Envoy's goes. It answers only when told to. */
export class XdsEnvoy {
  readonly call: FakeCall;
  #names: readonly string[] = [];
  #read = 0;
  #version = '';

  constructor(method: Method) {
    this.call = new FakeCall(method);
  }

  get responses(): readonly DiscoveryResponse[] {
    return this.call.sent.map((bytes) => DiscoveryResponse.decode(bytes));
  }

  /** Responses that were not yet answered. */
  get unanswered(): number {
    return this.call.sent.length - this.#read;
  }

  subscribe(names: readonly string[] = ['workers'], typeUrl = EDS_TYPE, id = 'envoy-1'): void {
    this.#names = names;
    this.#request({ typeUrl, node: { id } });
  }

  /** Changes the subscription in the middle of a stream. */
  rename(names: readonly string[]): void {
    this.#names = names;
    this.#request({ responseNonce: this.responses[this.#read - 1]?.nonce });
  }

  /** Accepts the oldest unanswered response and answers with the endpoints of its first resource. */
  ack(): HeldEndpoint[] {
    const response = this.responses[this.#read++]!;
    this.#version = response.versionInfo ?? '';
    this.#request({ responseNonce: response.nonce });
    return endpointsIn(response)[0]?.endpoints ?? [];
  }

  nack(message: string): void {
    const response = this.responses[this.#read++]!;
    this.#request({ responseNonce: response.nonce, errorDetail: { code: 3, message } });
  }

  raw(request: DiscoveryRequest): void {
    this.call.receive(DiscoveryRequest.encode(request).finish());
  }

  #request(request: DiscoveryRequest): void {
    this.raw({ typeUrl: EDS_TYPE, versionInfo: this.#version, resourceNames: [...this.#names], ...request });
  }
}

/** The assignments of a response, in plain form. */
export function endpointsIn(response: DiscoveryResponse): { name: string; endpoints: HeldEndpoint[] }[] {
  return (response.resources ?? []).map((resource) => {
    if (resource.typeUrl !== EDS_TYPE) throw new Error(`resource of type ${resource.typeUrl}`);
    const assignment = ClusterLoadAssignment.decode(resource.value ?? Buffer.alloc(0));
    const endpoints = (assignment.endpoints ?? []).flatMap(({ lbEndpoints = [] }) =>
      lbEndpoints.map((endpoint) => {
        const socket = endpoint.hostIdentifier?.value.address?.address;
        if (socket?.$case !== 'socketAddress') throw new Error('endpoint without a socket address');
        const { address, portSpecifier } = socket.value;
        return {
          address: `${address} ${portSpecifier?.value}`,
          health: nameOf(endpoint.healthStatus),
          worker: endpoint.metadata?.filterMetadata?.['worker'],
        };
      }),
    );
    return { name: assignment.clusterName ?? '', endpoints };
  });
}

function nameOf(status: HealthStatus | undefined): string {
  return Object.entries(HealthStatus).find(([, value]) => value === status)?.[0] ?? '';
}
