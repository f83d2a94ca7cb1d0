import { readFileSync } from 'node:fs';
import { type ChannelCredentials, Client, credentials } from '@grpc/grpc-js';
import { changesIn, httpHeaders } from '../../../src/envoy/ext-proc/fixture.suite.ts';
import {
  ProcessingRequest,
  ProcessingResponse,
} from '../../../src/gen/envoy/service/ext_proc/v3/external_processor.ts';
import {
  HealthCheckRequest,
  HealthCheckResponse,
  HealthCheckResponse_ServingStatus as ServingStatus,
} from '../../../src/gen/grpc/health/v1/health.ts';
import { HEALTH_PATH } from '../health-call.ts';
import { SERVER_NAME, type Target } from '../way.ts';
import { firstOf, PICK_HEADER } from '../workers.ts';

const EXT_PROC_PATH = '/envoy.service.ext_proc.v3.ExternalProcessor/Process';

/** What the answers of our own services said. */
export interface GrpcAnswer {
  readonly healthy: boolean;
  /** The worker that the answer to the headers of a request names, `host:port`. */
  readonly picked: string | undefined;
  /** gRPC status with which the stream ended. */
  readonly status: number;
}

/** A unary call and a stream by the stock gRPC client of Node. */
export async function askByGrpcJs(target: Target): Promise<GrpcAnswer> {
  const client = new Client(target.address, credentialsOf(target), {
    'grpc.ssl_target_name_override': SERVER_NAME,
    'grpc.use_local_subchannel_pool': 1,
  });
  try {
    return { healthy: await isHealthy(client), ...(await pick(client)) };
  } finally {
    client.close();
  }
}

function credentialsOf({ way, caPath }: Target): ChannelCredentials {
  return way.tls ? credentials.createSsl(readFileSync(caPath)) : credentials.createInsecure();
}

function isHealthy(client: Client): Promise<boolean> {
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(
      HEALTH_PATH,
      (request: HealthCheckRequest) => Buffer.from(HealthCheckRequest.encode(request).finish()),
      (bytes: Buffer) => HealthCheckResponse.decode(bytes),
      {},
      (error, answer) => (error ? reject(error) : resolve(answer?.status === ServingStatus.SERVING)),
    );
  });
}

/** Plays an Envoy whose request is over with its headers. */
function pick(client: Client): Promise<Pick<GrpcAnswer, 'picked' | 'status'>> {
  const stream = client.makeBidiStreamRequest(
    EXT_PROC_PATH,
    (request: ProcessingRequest) => Buffer.from(ProcessingRequest.encode(request).finish()),
    (bytes: Buffer) => ProcessingResponse.decode(bytes),
  );
  return new Promise((resolve, reject) => {
    let picked: string | undefined;
    stream.on('data', (answer: ProcessingResponse) => {
      picked = firstOf(changesIn(answer).set[PICK_HEADER]);
      stream.end();
    });
    stream.once('error', reject);
    stream.once('status', ({ code }) => resolve({ picked, status: code }));
    const headers = httpHeaders({ ':method': 'GET', ':path': '/v1/models' }, true);
    stream.write({ request: { $case: 'requestHeaders', value: headers } });
  });
}
