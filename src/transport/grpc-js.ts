import { type ConnectionInjector, Server, ServerCredentials, type ServiceDefinition } from '@grpc/grpc-js';
import { type ByteStream, GrpcJsCall } from './grpc-js-call.ts';
import { withFittingLimits } from './http2-limits.ts';
import { type Listener, openListener, type Secured } from './listener.ts';
import {
  type CallHandler,
  GrpcStatus,
  type ListenAddress,
  type Method,
  type TlsOptions,
  type Transport,
  type TransportFactory,
  type TransportOptions,
} from './transport.ts';

/** The transport on `@grpc/grpc-js`: the stock implementation, and the oracle for our own. */
export const grpcJsTransport: TransportFactory = (methods, options) => new GrpcJsTransport(methods, options);

/**
 * Every method is registered as bidirectional, which on the wire covers unary ones too. The sockets are ours and are given
 * to grpc-js, because its own listening resolves names, hides its connections and cannot be asked to drop them.
 */
class GrpcJsTransport implements Transport {
  readonly #options: TransportOptions;
  readonly #server: Server;
  readonly #injector: ConnectionInjector;
  readonly #listeners: Listener[] = [];
  readonly #whenIdle: (() => void)[] = [];
  #tls: TlsOptions | null;
  #openCalls = 0;
  #draining: Promise<void> | null = null;

  constructor(methods: readonly Method[], options: TransportOptions) {
    this.#options = options;
    this.#tls = options.tls ?? null;
    this.#server = new Server({
      'grpc.max_receive_message_length': options.maxReceiveBytes,
      'grpc.max_send_message_length': -1,
      // Channelz keeps counters and a trace per call and connection that nobody here asks for.
      'grpc.enable_channelz': 0,
    });
    for (const method of methods) {
      this.#server.addService(definitionOf(method.path), { call: (stream: ByteStream) => this.#open(method, stream) });
    }
    this.#injector = withFittingLimits(() => this.#server.createConnectionInjector(ServerCredentials.createInsecure()));
  }

  get openCalls(): number {
    return this.#openCalls;
  }

  get openConnections(): number {
    return this.#listeners.reduce((sum, { connections }) => sum + connections, 0);
  }

  async listen(address: ListenAddress): Promise<string> {
    if (this.#draining !== null) throw new Error('the transport is closing');
    const listener = await openListener(address, this.#secured(), (socket) => this.#injector.injectConnection(socket));
    this.#listeners.push(listener);
    return listener.name;
  }

  renewTls(tls: TlsOptions): void {
    this.#tls = tls;
    for (const listener of this.#listeners) listener.renewTls(tls);
  }

  drain(): Promise<void> {
    this.#draining ??= this.#drain();
    return this.#draining;
  }

  async close(): Promise<void> {
    this.#stopAccepting();
    this.#draining ??= Promise.resolve();
    await Promise.all(this.#listeners.map((listener) => listener.close()));
    await this.#idle();
  }

  #drain(): Promise<void> {
    this.#stopAccepting();
    return this.#idle();
  }

  #secured(): Secured | null {
    if (this.#tls === null) return null;
    return { tls: this.#tls, failed: (reason) => this.#options.observer?.handshakeFailed(reason) };
  }

  #stopAccepting(): void {
    for (const listener of this.#listeners) listener.stop();
    // Sends GOAWAY on every connection, each of which closes with its last call.
    this.#server.tryShutdown(() => undefined);
  }

  #idle(): Promise<void> {
    if (this.#openCalls === 0) return Promise.resolve();
    return new Promise((resolve) => this.#whenIdle.push(resolve));
  }

  #open(method: Method, stream: ByteStream): void {
    const call = new GrpcJsCall(stream);
    const report = (error: unknown): void => this.#options.onHandlerError(method.path, error);
    let handler: CallHandler;
    try {
      handler = method.open(call);
    } catch (error) {
      report(error);
      call.end(GrpcStatus.internal, 'the handler of this call failed');
      return;
    }
    this.#openCalls += 1;
    call.attach(handler, report, () => this.#closed());
  }

  #closed(): void {
    this.#openCalls -= 1;
    if (this.#openCalls > 0) return;
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }
}

function definitionOf(path: string): ServiceDefinition {
  return {
    call: {
      path,
      requestStream: true,
      responseStream: true,
      requestSerialize: asBuffer,
      requestDeserialize: (bytes: Buffer) => bytes,
      responseSerialize: asBuffer,
      responseDeserialize: (bytes: Buffer) => bytes,
    },
  };
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
