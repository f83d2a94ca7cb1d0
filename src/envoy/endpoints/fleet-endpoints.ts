import { HealthStatus } from '../../gen/envoy/config/core/v3/health_check.ts';
import { ClusterLoadAssignment } from '../../gen/envoy/config/endpoint/v3/endpoint.ts';
import type { LbEndpoint } from '../../gen/envoy/config/endpoint/v3/endpoint_components.ts';
import { splitAddress } from '../../workers/address.ts';
import type { WorkerSnapshot } from '../../workers/snapshot.ts';
import type { Worker } from '../../workers/worker.ts';
import type { WorkerStatus } from '../../workers/worker-kinds.ts';
import { isGrpcUrl } from '../../workers/worker-url.ts';
import {
  DESTINATION_NAMESPACE,
  GRPC_WORKER_CLUSTER,
  LEG_KEY,
  PREFILL_WORKER_CLUSTER,
  TLS_KEY,
  TLS_ON,
  TRANSPORT_NAMESPACE,
  WORKER_ID_KEY,
  WORKER_NAMESPACE,
  WORKER_STAMP_KEY,
} from '../names.ts';
import { serverName } from './server-name.ts';
import { type StampKind, workerStamp } from './worker-stamp.ts';

/** One worker as Envoy is told of it, or the engine of several ranks. */
export interface FleetEndpoint {
  /** Id of the worker, which is its URL; of ranks the URL that they share. */
  readonly workerId: string;
  /** Value of the stamp, empty for none. */
  readonly stamp: string;
  readonly health: HealthStatus;
  /** The leg of split requests that it does; null where requests are not split. */
  readonly leg: 'prefill' | 'decode' | null;
}

/** Endpoints by `ip:port`, in registration order. */
export type FleetEndpoints = ReadonlyMap<string, FleetEndpoint>;

/** Our view of a worker's status, which Envoy's fallback policy obeys (decisions 24). */
const HEALTH: Readonly<Record<WorkerStatus, HealthStatus>> = {
  ready: HealthStatus.HEALTHY,
  draining: HealthStatus.DRAINING,
  pending: HealthStatus.UNHEALTHY,
  not_ready: HealthStatus.UNHEALTHY,
  failed: HealthStatus.UNHEALTHY,
};

/**
 * The workers whose address is known, of the types that take requests. Where several share one, it is that of the first
 * registered. The ranks of an engine are one endpoint, as healthy as the best of them.
 */
export function endpointsOf(snapshot: WorkerSnapshot, stampKind: StampKind): FleetEndpoints {
  const endpoints = new Map<string, FleetEndpoint>();
  for (const worker of snapshot.workers) {
    const { address, url } = worker;
    if (address === '' || !snapshot.serves(worker)) continue;
    const there = endpoints.get(address);
    const health = healthOf(worker);
    if (there === undefined) {
      const stamp = workerStamp(worker, stampKind, null);
      const leg = worker.type === 'regular' ? null : worker.type;
      endpoints.set(address, { workerId: url, stamp, health, leg });
    } else if (there.workerId === url && BEST_FIRST.indexOf(health) < BEST_FIRST.indexOf(there.health)) {
      endpoints.set(address, { ...there, health });
    }
  }
  return endpoints;
}

const BEST_FIRST: readonly HealthStatus[] = [
  HealthStatus.HEALTHY,
  HealthStatus.DEGRADED,
  HealthStatus.DRAINING,
  HealthStatus.UNHEALTHY,
];

/**
 * A ready worker whose breaker is open or that is overloaded is degraded: Envoy's own choice falls on it only when no
 * other is left. Our picks reach it all the same (envoy 6.5), as do those that we make when its breaker half-opens. On a
 * prefill worker it falls never, since a request that nobody picked for is better off with a decode worker: it is as good as
 * out, and our own configuration leaves it out even where all others are.
 */
function healthOf({ type, status, breaker, overloaded }: Worker): HealthStatus {
  if (type === 'prefill') return HealthStatus.UNHEALTHY;
  const strained = status === 'ready' && (breaker === 'open' || overloaded);
  return strained ? HealthStatus.DEGRADED : HEALTH[status];
}

/** How two lists differ: not at all, in nothing but who is degraded, or otherwise. */
export function differenceOf(a: FleetEndpoints, b: FleetEndpoints): 'none' | 'strain' | 'other' {
  if (a.size !== b.size) return 'other';
  let difference: 'none' | 'strain' = 'none';
  const others = b.entries();
  for (const [address, one] of a) {
    const [otherAddress, other] = others.next().value ?? [];
    if (other === undefined || otherAddress !== address) return 'other';
    if (other.workerId !== one.workerId || other.stamp !== one.stamp) return 'other';
    if (other.leg !== one.leg) return 'other';
    if (other.health === one.health) continue;
    if (!isUp(one) || !isUp(other)) return 'other';
    difference = 'strain';
  }
  return difference;
}

function isUp({ health }: FleetEndpoint): boolean {
  return health === HealthStatus.HEALTHY || health === HealthStatus.DEGRADED;
}

/**
 * So many times the share of healthy workers, in percent, counts as their share of traffic. By default 140: with a third
 * of them degraded Envoy would send some requests there, and with half of them out it asks every one.
 */
const OVERPROVISIONING = 1_000_000;

/**
 * `to` without the addresses that stood for another worker in `from`: what Envoy must see in between, since a request
 * that runs on the old worker would else be logged and stamped with the new one (envoy 8.5). Null when there is no such
 * address, or nothing else to leave: an empty cluster fails requests, which is worse than a wrong stamp.
 */
export function withoutReplaced(from: FleetEndpoints, to: FleetEndpoints): FleetEndpoints | null {
  const kept = new Map<string, FleetEndpoint>();
  for (const [address, endpoint] of to) {
    const before = from.get(address);
    if (before === undefined || before.workerId === endpoint.workerId) kept.set(address, endpoint);
  }
  return kept.size === to.size || kept.size === 0 ? null : kept;
}

/** The endpoints of each cluster as a ClusterLoadAssignment that still lacks its name. */
export interface EncodedEndpoints {
  /** Of workers that serve gRPC requests and nothing else. */
  readonly grpc: Buffer;
  /** Of all others. */
  readonly others: Buffer;
  /** Of those among them that do the prefill leg. */
  readonly prefill: Buffer;
}

export function encodeEndpoints(endpoints: FleetEndpoints): EncodedEndpoints {
  return {
    grpc: encodePart(endpoints, ({ workerId }) => isGrpcUrl(workerId)),
    others: encodePart(endpoints, ({ workerId }) => !isGrpcUrl(workerId)),
    prefill: encodePart(endpoints, ({ workerId, leg }) => leg === 'prefill' && !isGrpcUrl(workerId)),
  };
}

function encodePart(endpoints: FleetEndpoints, isPart: (endpoint: FleetEndpoint) => boolean): Buffer {
  const lbEndpoints: LbEndpoint[] = [];
  for (const [address, endpoint] of endpoints) {
    if (!isPart(endpoint)) continue;
    const socket = splitAddress(address);
    if (socket !== undefined) lbEndpoints.push(encodable(socket.ip, socket.port, endpoint));
  }
  const policy = { overprovisioningFactor: OVERPROVISIONING };
  const assignment = lbEndpoints.length === 0 ? {} : { endpoints: [{ lbEndpoints }], policy };
  return Buffer.from(ClusterLoadAssignment.encode(assignment).finish());
}

/** A whole ClusterLoadAssignment: the parts of a protobuf message may simply follow each other. */
export function nameAssignment(clusterName: string, encoded: EncodedEndpoints): Buffer {
  return Buffer.concat([ClusterLoadAssignment.encode({ clusterName }).finish(), partOf(clusterName, encoded)]);
}

function partOf(clusterName: string, { grpc, others, prefill }: EncodedEndpoints): Buffer {
  if (clusterName === GRPC_WORKER_CLUSTER) return grpc;
  return clusterName === PREFILL_WORKER_CLUSTER ? prefill : others;
}

function encodable(ip: string, port: number, endpoint: FleetEndpoint): LbEndpoint {
  const socketAddress = { address: ip, portSpecifier: { $case: 'portValue', value: port } } as const;
  const worker: Record<string, string> = { [WORKER_ID_KEY]: endpoint.workerId };
  if (endpoint.stamp !== '') worker[WORKER_STAMP_KEY] = endpoint.stamp;
  const name = serverName(endpoint.workerId);
  const transport = name === null ? {} : { [TRANSPORT_NAMESPACE]: { [TLS_KEY]: TLS_ON } };
  const leg = endpoint.leg === null ? {} : { [DESTINATION_NAMESPACE]: { [LEG_KEY]: endpoint.leg } };
  return {
    hostIdentifier: {
      $case: 'endpoint',
      value: {
        address: { address: { $case: 'socketAddress', value: socketAddress } },
        ...(name ? { hostname: name } : {}),
      },
    },
    healthStatus: endpoint.health,
    metadata: { filterMetadata: { [WORKER_NAMESPACE]: worker, ...transport, ...leg } },
  };
}
