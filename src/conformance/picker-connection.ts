import { type ChannelCredentials, type ChannelOptions, Client, credentials, Metadata } from '@grpc/grpc-js';
import { ProcessingRequest, ProcessingResponse } from '../gen/envoy/service/ext_proc/v3/external_processor.ts';
import { HealthCheckRequest, HealthCheckResponse } from '../gen/grpc/health/v1/health.ts';
import { AppError, messageOf } from '../util/app-error.ts';
import type { Connection, HealthAnswer } from './connection.ts';
import { ProcessStream } from './process-stream.ts';

const PROCESS = '/envoy.service.ext_proc.v3.ExternalProcessor/Process';

export interface ConnectionOptions {
  /** `host:port`, or `unix:PATH`. */
  readonly address: string;
  /** Longest silence in milliseconds where an answer is owed. */
  readonly timeoutMs: number;
  /** Null for plaintext. Without a CA any certificate will do, as for Envoy. */
  readonly tls: { readonly ca: Buffer | null } | null;
  /** Replaces the name in `:authority` and TLS; null takes it from the address. */
  readonly authority: string | null;
}

/** One HTTP/2 connection to a picker. */
export class PickerConnection implements Connection {
  readonly #options: ConnectionOptions;
  readonly #client: Client;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#client = new Client(options.address, credentialsOf(options), channelOptions(options));
  }

  /** Rejects with `target_unreachable` when the picker does not accept the connection in time. */
  ready(): Promise<void> {
    return new Promise((resolve, reject) => {
      const { address, timeoutMs } = this.#options;
      this.#client.waitForReady(Date.now() + timeoutMs, (cause) => {
        if (cause === undefined || cause === null) resolve();
        else reject(new AppError('target_unreachable', `${address}: ${messageOf(cause)}`, { cause }));
      });
    });
  }

  open(): ProcessStream {
    const call = this.#client.makeBidiStreamRequest<ProcessingRequest, ProcessingResponse>(
      PROCESS,
      (message) => Buffer.from(ProcessingRequest.encode(message).finish()),
      (bytes) => ProcessingResponse.decode(bytes),
    );
    return new ProcessStream(call, this.#options.timeoutMs);
  }

  check(service: string): Promise<HealthAnswer> {
    return new Promise((resolve) => {
      this.#client.makeUnaryRequest<HealthCheckRequest, HealthCheckResponse>(
        '/grpc.health.v1.Health/Check',
        encodeHealth,
        (bytes) => HealthCheckResponse.decode(bytes),
        { service },
        new Metadata(),
        { deadline: Date.now() + this.#options.timeoutMs },
        (error, answer) => resolve({ code: error?.code ?? 0, serving: answer?.status ?? null }),
      );
    });
  }

  watch(service: string): Promise<HealthAnswer> {
    const call = this.#client.makeServerStreamRequest<HealthCheckRequest, HealthCheckResponse>(
      '/grpc.health.v1.Health/Watch',
      encodeHealth,
      (bytes) => HealthCheckResponse.decode(bytes),
      { service },
      new Metadata(),
      { deadline: Date.now() + this.#options.timeoutMs },
    );
    return new Promise((resolve) => {
      call.on('data', (answer: HealthCheckResponse) => {
        resolve({ code: 0, serving: answer.status ?? null });
        call.cancel();
      });
      call.on('error', () => {});
      call.on('status', ({ code }) => resolve({ code, serving: null }));
    });
  }

  close(): void {
    this.#client.close();
  }
}

function encodeHealth(request: HealthCheckRequest): Buffer {
  return Buffer.from(HealthCheckRequest.encode(request).finish());
}

function credentialsOf({ tls }: ConnectionOptions): ChannelCredentials {
  if (tls === null) return credentials.createInsecure();
  if (tls.ca !== null) return credentials.createSsl(tls.ca);
  return credentials.createSsl(null, null, null, { rejectUnauthorized: false, checkServerIdentity: () => undefined });
}

function channelOptions({ authority }: ConnectionOptions): ChannelOptions {
  return {
    'grpc.max_receive_message_length': -1,
    'grpc.max_send_message_length': -1,
    'grpc.use_local_subchannel_pool': 1,
    'grpc.enable_retries': 0,
    'grpc.service_config_disable_resolution': 1,
    ...(authority === null ? {} : { 'grpc.default_authority': authority, 'grpc.ssl_target_name_override': authority }),
  };
}
