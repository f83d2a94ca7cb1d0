import type { HttpResult } from './http-request.ts';
import type { Http2Result } from './http2-request.ts';

export const GRPC_HEALTH_PATH = '/grpc.health.v1.Health/Check';
/** A `HealthCheckRequest` about the server as a whole: a frame of no bytes. */
export const GRPC_HEALTH_QUESTION = Buffer.alloc(5);

const GRPC_UNIMPLEMENTED = '12';
/** `HealthCheckResponse` with `status: SERVING`, and its frame. */
const SERVING = Buffer.from([0, 0, 0, 0, 2, 8, 1]);

/**
 * What a gRPC worker answered to a health check (grpc.health.v1), as the HTTP status that means the same: 200 when it
 * serves, 503 when it says that it does not.
 */
export function readGrpcHealth(result: Http2Result): HttpResult {
  if (result.kind !== 'answer') return result;
  const { status, body, grpcStatus } = result;
  if (status !== 200 || grpcStatus === null)
    return { kind: 'failed', reason: `HTTP ${status}, which is no gRPC answer` };
  if (grpcStatus === GRPC_UNIMPLEMENTED) {
    return { kind: 'failed', reason: 'it does not serve grpc.health.v1: turn its health check off' };
  }
  if (grpcStatus !== '0') return { kind: 'failed', reason: `grpc-status ${grpcStatus}` };
  const serving = body.equals(SERVING);
  return { kind: 'answer', status: serving ? 200 : 503, body: Buffer.alloc(0), complete: true };
}
