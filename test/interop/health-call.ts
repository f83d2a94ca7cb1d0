import {
  HealthCheckRequest,
  HealthCheckResponse,
  HealthCheckResponse_ServingStatus as ServingStatus,
} from '../../src/gen/grpc/health/v1/health.ts';
import { framed } from '../../src/transport/peers.suite.ts';

/** The gRPC health check (https://github.com/grpc/grpc/blob/master/doc/health-checking.md) as a client without gRPC sends it. */
export const HEALTH_PATH = '/grpc.health.v1.Health/Check';

/** Its request: one message behind its five bytes (https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md). */
export const HEALTH_REQUEST = framed(HealthCheckRequest.encode({}).finish());

const SERVING = framed(HealthCheckResponse.encode({ status: ServingStatus.SERVING }).finish());

/** Bytes of the DATA of an answer. */
export const ANSWER_BYTES = SERVING.length;

/** Headers that PROTOCOL-HTTP2 asks of a request, as `name: value`. */
export const GRPC_HEADERS = ['content-type: application/grpc', 'te: trailers'];

/** What a client without gRPC saw of an answer. */
export interface HttpAnswer {
  readonly status: string | undefined;
  readonly contentType: string | undefined;
  /** In hex. */
  readonly body: string;
  /** Of the trailers. */
  readonly grpcStatus: string | undefined;
}

/** The answer of a service that serves. */
export const SERVING_ANSWER: HttpAnswer = {
  status: '200',
  contentType: 'application/grpc',
  body: SERVING.toString('hex'),
  grpcStatus: '0',
};
