import { Server, ServerCredentials, type ServerDuplexStream, type sendUnaryData } from '@grpc/grpc-js';
import {
  ProcessingRequest,
  ProcessingResponse,
} from '../../../src/gen/envoy/service/ext_proc/v3/external_processor.ts';
import { HealthCheckRequest, HealthCheckResponse } from '../../../src/gen/grpc/health/v1/health.ts';
import type { ReferencePicker } from './reference-picker.ts';

/** A reference picker on stock gRPC. */
export class GrpcServer {
  readonly address: string;
  readonly #server: Server;

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.address = `127.0.0.1:${port}`;
  }

  static async start(picker: ReferencePicker): Promise<GrpcServer> {
    const { fault } = picker;
    const server = new Server({
      'grpc.max_receive_message_length': fault === 'small receive limit' ? 500_000 : -1,
      'grpc.max_send_message_length': -1,
      ...(fault === 'few streams at once' ? { 'grpc.max_concurrent_streams': 40 } : {}),
    });
    server.addService(PROCESSOR, {
      process: (call: ServerDuplexStream<ProcessingRequest, ProcessingResponse>) => picker.process(call),
    });
    server.addService(HEALTH, healthMethods(picker));
    const port = await new Promise<number>((resolve, reject) => {
      server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
        error === null ? resolve(bound) : reject(error),
      );
    });
    return new GrpcServer(server, port);
  }

  close(): void {
    this.#server.forceShutdown();
  }
}

const PROCESSOR = {
  process: {
    path: '/envoy.service.ext_proc.v3.ExternalProcessor/Process',
    requestStream: true,
    responseStream: true,
    requestSerialize: (value: ProcessingRequest) => Buffer.from(ProcessingRequest.encode(value).finish()),
    requestDeserialize: (bytes: Buffer) => ProcessingRequest.decode(bytes),
    responseSerialize: (value: ProcessingResponse) => Buffer.from(ProcessingResponse.encode(value).finish()),
    responseDeserialize: (bytes: Buffer) => ProcessingResponse.decode(bytes),
  },
} as const;

const HEALTH_CODEC = {
  requestStream: false,
  requestSerialize: (value: HealthCheckRequest) => Buffer.from(HealthCheckRequest.encode(value).finish()),
  requestDeserialize: (bytes: Buffer) => HealthCheckRequest.decode(bytes),
  responseSerialize: (value: HealthCheckResponse) => Buffer.from(HealthCheckResponse.encode(value).finish()),
  responseDeserialize: (bytes: Buffer) => HealthCheckResponse.decode(bytes),
} as const;

const HEALTH = {
  check: { ...HEALTH_CODEC, path: '/grpc.health.v1.Health/Check', responseStream: false },
  watch: { ...HEALTH_CODEC, path: '/grpc.health.v1.Health/Watch', responseStream: true },
} as const;

function healthMethods(picker: ReferencePicker) {
  return {
    check: (call: { request: HealthCheckRequest }, done: sendUnaryData<HealthCheckResponse>) => {
      if (picker.knows(call.request.service ?? '')) done(null, { status: 1 });
      else done({ code: 5, details: 'unknown service' });
    },
    watch: (call: { request: HealthCheckRequest; write: (answer: HealthCheckResponse) => void }) => {
      call.write({ status: picker.knows(call.request.service ?? '') ? 1 : 3 });
    },
  };
}
