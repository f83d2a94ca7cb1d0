import { Client, credentials, Metadata } from '@grpc/grpc-js';
import { ECHO_PATH } from '../../src/sim/grpc-worker.ts';

/** An open echo stream of a simulated gRPC worker. */
export interface EchoStream {
  /** `x-sim-worker` and `x-smg-routed-worker-id` of the answer. */
  readonly worker: Promise<string>;
  readonly stamp: Promise<string>;
  /** Code with which it ended. */
  readonly ended: Promise<number>;
  echo(text: string): Promise<string>;
  end(): void;
}

/** A gRPC client, over HTTP/2 without TLS. */
export interface GrpcClient {
  open(headers: Readonly<Record<string, string>>): EchoStream;
  /** Opens a stream, sends a message on it and ends it; answers with the name of the worker. */
  once(headers: Readonly<Record<string, string>>): Promise<string>;
  close(): void;
}

const asIs = (bytes: Buffer): Buffer => bytes;

export function grpcClient(url: string): GrpcClient {
  const client = new Client(url.replace('http://', ''), credentials.createInsecure());
  const open = (headers: Readonly<Record<string, string>>): EchoStream => {
    const metadata = new Metadata();
    for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
    const stream = client.makeBidiStreamRequest(ECHO_PATH, asIs, asIs, metadata);
    const ended = new Promise<number>((resolve) => stream.once('status', ({ code }) => resolve(code)));
    const failed = new Promise<never>((_, reject) => stream.once('error', reject));
    failed.catch(() => undefined); // whoever waits for an answer sees it
    const answered = new Promise<Metadata>((resolve) => stream.once('metadata', resolve));
    const header = (name: string) => Promise.race([answered, failed]).then((got) => String(got.get(name)[0]));
    const [worker, stamp] = [header('x-sim-worker'), header('x-smg-routed-worker-id')];
    for (const promise of [worker, stamp]) promise.catch(() => undefined);
    return {
      worker,
      stamp,
      ended,
      echo: (text) => {
        const back = new Promise<string>((resolve) => stream.once('data', (bytes: Buffer) => resolve(String(bytes))));
        stream.write(Buffer.from(text));
        return Promise.race([back, failed]);
      },
      end: () => stream.end(),
    };
  };
  return {
    open,
    once: async (headers) => {
      const stream = open(headers);
      await stream.echo('x');
      stream.end();
      await stream.ended;
      return stream.worker;
    },
    close: () => client.close(),
  };
}
