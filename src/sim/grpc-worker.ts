import type { ServerUnaryCall } from '@grpc/grpc-js';
import { Metadata, Server, ServerCredentials, type ServerDuplexStream, type sendUnaryData } from '@grpc/grpc-js';
import { placesOf, type SimPlace, type SimPlaces } from './places.ts';

/** A bidirectional stream whose messages come back as they were. */
export const ECHO_PATH = '/sim.v1.Echo/Chat';
const HEALTH_PATH = '/grpc.health.v1.Health/Check';
/** `HealthCheckResponse` with `status: SERVING`, and `NOT_SERVING`. */
const SERVING = Buffer.from([8, 1]);
const NOT_SERVING = Buffer.from([8, 2]);

/** One simulated gRPC worker, HTTP/2 without TLS: health checks, and an echo. */
export class GrpcSimWorker {
  readonly name: string;
  readonly #host: string;
  #port: number;
  #server: Server | null = null;
  #running = 0;
  serving = true;

  /** Its name is `x-sim-worker` in the metadata of every answer; port 0 takes any free one, and keeps it over a restart. */
  constructor({ name, host, port }: SimPlace) {
    this.name = name;
    this.#host = host;
    this.#port = port;
  }

  /** `host:port`, IPv6 in brackets. */
  get address(): string {
    return `${this.#host.includes(':') ? `[${this.#host}]` : this.#host}:${this.#port}`;
  }

  get url(): string {
    return `grpc://${this.address}`;
  }

  /** Echo streams open now. */
  get running(): number {
    return this.#running;
  }

  /** Starts to listen. Rejects when the address is taken. */
  async start(): Promise<void> {
    const server = new Server();
    server.register(
      HEALTH_PATH,
      (_: Unary, done: sendUnaryData<Buffer>) => done(null, this.serving ? SERVING : NOT_SERVING),
      asIs,
      asIs,
      'unary',
    );
    server.register(ECHO_PATH, (call: Duplex) => this.#echo(call), asIs, asIs, 'bidi');
    this.#port = await new Promise<number>((resolve, reject) => {
      server.bindAsync(this.address, ServerCredentials.createInsecure(), (error, port) => {
        if (error === null) resolve(port);
        else reject(error);
      });
    });
    this.#server = server;
  }

  /** Dies as a killed process does: the port refuses, running streams break off. Another call does nothing. */
  kill(): void {
    this.#server?.forceShutdown();
    this.#server = null;
  }

  #echo(call: Duplex): void {
    this.#running += 1;
    const metadata = new Metadata();
    metadata.set('x-sim-worker', this.name);
    call.sendMetadata(metadata);
    call.on('data', (message: Buffer) => call.write(message));
    call.on('end', () => call.end());
    call.once('close', () => {
      this.#running -= 1;
    });
    call.on('error', () => call.destroy());
  }
}

/** Starts simulated gRPC workers; rejects, with none left running, when an address is taken. */
export async function startGrpcSim(places: SimPlaces = {}) {
  const workers = placesOf(places).map((place) => new GrpcSimWorker(place));
  const close = async (): Promise<void> => {
    for (const worker of workers) worker.kill();
  };
  try {
    for (const worker of workers) await worker.start();
  } catch (error) {
    await close();
    throw error;
  }
  return { workers, urls: workers.map(({ url }) => url), close };
}

type Unary = ServerUnaryCall<Buffer, Buffer>;
type Duplex = ServerDuplexStream<Buffer, Buffer>;

function asIs(bytes: Buffer): Buffer {
  return bytes;
}
