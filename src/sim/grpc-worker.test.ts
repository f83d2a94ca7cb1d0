import { Client, credentials, type Metadata } from '@grpc/grpc-js';
import { afterEach, describe, expect, it } from 'vitest';
import { until } from '../../test/support/until.ts';
import { ECHO_PATH, type GrpcSimWorker, startGrpcSim } from './grpc-worker.ts';

const asIs = (bytes: Buffer): Buffer => bytes;
const closers: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function started(count: number) {
  const sim = await startGrpcSim({ count });
  closers.push(() => sim.close());
  return sim.workers;
}

function clientOf(worker: GrpcSimWorker): Client {
  const client = new Client(worker.address, credentials.createInsecure());
  closers.push(() => client.close());
  return client;
}

const health = (client: Client) =>
  new Promise<Buffer | undefined>((resolve, reject) => {
    client.makeUnaryRequest('/grpc.health.v1.Health/Check', asIs, asIs, Buffer.alloc(0), (error, answer) =>
      error === null ? resolve(answer) : reject(error),
    );
  });

describe('simulated gRPC workers', () => {
  it('have names and addresses of their own, and say whether they serve', async () => {
    const [one, two] = await started(2);
    expect([one?.name, two?.name]).toEqual(['sim-1', 'sim-2']);
    expect(one?.url).toMatch(/^grpc:\/\/127\.0\.0\.1:\d+$/);
    expect(one?.url).not.toBe(two?.url);
    const client = clientOf(one!);

    expect(await health(client)).toEqual(Buffer.from([8, 1]));
    one!.serving = false;
    expect(await health(client)).toEqual(Buffer.from([8, 2]));
  });

  it('echo what a stream brings, count it, and break it off when they die', async () => {
    const [worker] = await started(1);
    const stream = clientOf(worker!).makeBidiStreamRequest(ECHO_PATH, asIs, asIs);
    const metadata = new Promise<Metadata>((resolve) => stream.once('metadata', resolve));
    const failed = new Promise<Error>((resolve) => stream.once('error', resolve));
    const echo = new Promise<Buffer>((resolve) => stream.once('data', resolve));
    stream.write(Buffer.from('hello'));

    expect((await metadata).get('x-sim-worker')).toEqual(['sim-1']);
    expect(String(await echo)).toBe('hello');
    expect(worker!.running).toBe(1);

    worker!.kill();
    expect((await failed).message).toMatch(/UNAVAILABLE|CANCELLED/);
    await until(() => worker!.running === 0, 'the stream is over');
    await worker!.start();
    expect(await health(clientOf(worker!))).toEqual(Buffer.from([8, 1]));
  });
});
