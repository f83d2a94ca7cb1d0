import { afterEach } from 'vitest';
import type { Certificate } from '../sim/certificate.ts';
import { RawClient, RecordedMethod, StockClient } from './peers.suite.ts';
import type { TransportFactory } from './transport.ts';

/** Method that sends every message back. */
export const ECHO = '/suite.Test/Echo';
/** Method that takes messages and says nothing. */
export const SILENT = '/suite.Test/Silent';
/** Method that throws at the event that metadata `throw-at` names. */
export const THROW = '/suite.Test/Throw';
export const MIB = 1024 * 1024;

/** Transports with three methods and clients of them, all closed after each test. */
export function suiteSetup(factory: TransportFactory, certificate: Certificate | null = null) {
  const cleanups: (() => unknown)[] = [];
  const errors: unknown[] = [];

  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
    errors.length = 0;
  });

  return {
    /** What the transports reported of handlers that threw. */
    errors,
    cleanups,

    async setUp(maxReceiveBytes = 64 * MIB) {
      const all = methods();
      const transport = factory([all.echo, all.silent, all.thrower], {
        maxReceiveBytes,
        ...(certificate === null ? {} : { tls: certificate }),
        onHandlerError: (_path, error) => errors.push(error),
      });
      cleanups.push(() => transport.close());
      const address = await transport.listen({ host: '127.0.0.1', port: 0 });
      return { ...all, transport, address };
    },

    stock(address: string): StockClient {
      const client = new StockClient(address, certificate?.cert);
      cleanups.push(() => client.close());
      return client;
    },

    raw(address: string): RawClient {
      const client = new RawClient(address, certificate?.cert);
      cleanups.push(() => client.close());
      return client;
    },
  };
}

function methods() {
  const echo = new RecordedMethod(ECHO, (seen, event, bytes) => {
    if (event === 'message' && bytes !== null) seen.call.send(bytes);
    if (event === 'halfClosed') seen.call.end();
  });
  const silent = new RecordedMethod(SILENT, (seen, event) => {
    if (event === 'halfClosed') seen.call.end();
  });
  const thrower = new RecordedMethod(THROW, (seen, event) => {
    if (seen.call.metadata('throw-at') === event) throw new Error(`thrown at ${event}`);
    if (event === 'halfClosed') seen.call.end();
  });
  return { echo, silent, thrower };
}
