import { isGrpcRequest } from '../request/body-kind.ts';
import type { RequestHead } from '../request/request-head.ts';
import type { WorkerSnapshot } from '../workers/snapshot.ts';

/** The workers that a request may go to. Envoy's routes send gRPC requests to gRPC workers where there are some. Hot path. */
export function fleetFor(head: RequestHead, fleet: WorkerSnapshot): WorkerSnapshot {
  return fleet.grpc !== null && isGrpcRequest(head) ? fleet.grpc : fleet;
}
