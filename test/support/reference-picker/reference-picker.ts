import { Server, ServerCredentials, type ServerDuplexStream, type sendUnaryData } from '@grpc/grpc-js';
import {
  ProcessingRequest,
  ProcessingResponse,
} from '../../../src/gen/envoy/service/ext_proc/v3/external_processor.ts';
import { HealthCheckRequest, HealthCheckResponse } from '../../../src/gen/grpc/health/v1/health.ts';
import { Conversation } from './conversation.ts';
import type { Fault } from './fault.ts';
import { Fleet } from './fleet.ts';

export interface ReferencePickerOptions {
  readonly endpoints: readonly string[];
  readonly fault?: Fault | null;
  /** Sheds every request that it could place. */
  readonly overloaded?: boolean;
  /** The switch of the gateways' suite. */
  readonly testSelection?: boolean;
}

const HEALTH_NAMES = ['liveness', 'readiness', 'envoy.service.ext_proc.v3.ExternalProcessor'];

/**
 * The smallest endpoint picker that follows the protocol to the letter, on a gRPC server and nothing else of the product:
 * what the conformance checks are held against, whole and with one fault at a time.
 */
export class ReferencePicker {
  readonly address: string;
  readonly #server: Server;

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.address = `127.0.0.1:${port}`;
  }

  static async start(options: ReferencePickerOptions): Promise<ReferencePicker> {
    const fault = options.fault ?? null;
    const server = new Server({
      'grpc.max_receive_message_length': fault === 'small receive limit' ? 500_000 : -1,
      'grpc.max_send_message_length': -1,
      ...(fault === 'few streams at once' ? { 'grpc.max_concurrent_streams': 40 } : {}),
    });
    const fleet = new Fleet(options.endpoints);
    server.addService(PROCESSOR, {
      process: (call: ServerDuplexStream<ProcessingRequest, ProcessingResponse>) => {
        new Conversation(call, fleet, options);
      },
    });
    server.addService(HEALTH, healthMethods(fault));
    const port = await new Promise<number>((resolve, reject) => {
      server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
        error === null ? resolve(bound) : reject(error),
      );
    });
    return new ReferencePicker(server, port);
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

function healthMethods(fault: Fault | null) {
  const names = fault === 'health by an own name' ? ['inference-extension', ...HEALTH_NAMES.slice(2)] : HEALTH_NAMES;
  const knows = (name = ''): boolean => names.includes(name) || fault === 'any health name serves';
  return {
    check: (call: { request: HealthCheckRequest }, done: sendUnaryData<HealthCheckResponse>) => {
      if (knows(call.request.service)) done(null, { status: 1 });
      else done({ code: 5, details: 'unknown service' });
    },
    watch: (call: { request: HealthCheckRequest; write: (answer: HealthCheckResponse) => void }) => {
      call.write({ status: knows(call.request.service) ? 1 : 3 });
    },
  };
}
