import { type ChannelCredentials, type ChannelOptions, Client, credentials, Metadata } from '@grpc/grpc-js';
import { ProcessingRequest, ProcessingResponse } from '../gen/envoy/service/ext_proc/v3/external_processor.ts';
import { HealthCheckRequest, HealthCheckResponse } from '../gen/grpc/health/v1/health.ts';
import { Exchange } from './exchange.ts';
import { Outcome } from './outcome.ts';
import type { Plan } from './plan.ts';
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

/** A health answer: the gRPC status of the call, and the serving status when it is OK. */
export interface HealthAnswer {
  readonly code: number;
  /** Value of `ServingStatus`, null without an answer. */
  readonly serving: number | null;
}

/** One HTTP/2 connection to the picker, shared with nobody. */
export class PickerConnection {
  readonly options: ConnectionOptions;
  readonly #client: Client;

  constructor(options: ConnectionOptions) {
    this.options = options;
    this.#client = new Client(options.address, credentialsOf(options), channelOptions(options));
  }

  /** Rejects when the picker does not accept the connection in time. */
  ready(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#client.waitForReady(Date.now() + this.options.timeoutMs, (error) => {
        if (error === undefined || error === null) resolve();
        else reject(error);
      });
    });
  }

  /** Opens a stream, as Envoy does for one HTTP request. */
  open(): ProcessStream {
    const call = this.#client.makeBidiStreamRequest<ProcessingRequest, ProcessingResponse>(
      PROCESS,
      (message) => Buffer.from(ProcessingRequest.encode(message).finish()),
      (bytes) => ProcessingResponse.decode(bytes),
    );
    return new ProcessStream(call, this.options.timeoutMs);
  }

  /** Plays one HTTP request on a stream of its own. */
  async play(plan: Plan): Promise<Outcome> {
    const stream = this.open();
    const silent = await new Exchange(stream, plan).run();
    return new Outcome(plan, stream.entries, stream.end, silent);
  }

  /** One `grpc.health.v1.Health/Check`. */
  check(service: string): Promise<HealthAnswer> {
    return new Promise((resolve) => {
      this.#client.makeUnaryRequest<HealthCheckRequest, HealthCheckResponse>(
        '/grpc.health.v1.Health/Check',
        encodeHealth,
        (bytes) => HealthCheckResponse.decode(bytes),
        { service },
        new Metadata(),
        { deadline: Date.now() + this.options.timeoutMs },
        (error, answer) => resolve({ code: error?.code ?? 0, serving: answer?.status ?? null }),
      );
    });
  }

  /** First answer of `grpc.health.v1.Health/Watch`. */
  watch(service: string): Promise<HealthAnswer> {
    const call = this.#client.makeServerStreamRequest<HealthCheckRequest, HealthCheckResponse>(
      '/grpc.health.v1.Health/Watch',
      encodeHealth,
      (bytes) => HealthCheckResponse.decode(bytes),
      { service },
      new Metadata(),
      { deadline: Date.now() + this.options.timeoutMs },
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
