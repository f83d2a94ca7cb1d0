import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach } from 'vitest';
import { RawHttp2 } from '../../../test/support/raw-http2.ts';
import { framed, StockClient } from '../peers.suite.ts';
import type { Call, CallHandler, Method, Transport } from '../transport.ts';
import { http2TransportWith } from './http2-transport.ts';
import type { Http2Limits, LimitName } from './limits.ts';

/** Sends every message back, and ends with the client. */
export const ECHO = '/attacked.Test/Echo';
/** Takes everything, says nothing and never ends. */
export const HOLD = '/attacked.Test/Hold';
/** Ends with the first message. */
export const SHORT = '/attacked.Test/Short';

export const MIB = 1024 * 1024;
/** Bytes that an attacker sends before the others are looked after again. */
const BATCH_BYTES = 64 * 1024;

/** A call of a good client on a connection of its own, open during the attack. */
export interface Bystander {
  /** Sends a message and resolves with the milliseconds until it is back. */
  roundTrip(): Promise<number>;
}

export interface Attacked {
  readonly transport: Transport;
  readonly address: string;
  /** Limits reached, in order. */
  readonly limits: LimitName[];
  readonly errors: unknown[];
  /** Calls opened and closed that are not the bystander's. */
  readonly calls: { opened: number; closed: number };
  readonly bystander: Bystander;
  /** A connection of the attacker, with preface and SETTINGS sent. */
  open(settings?: readonly (readonly [number, number])[]): Promise<RawHttp2>;
  /** One that has sent nothing. */
  connect(): Promise<RawHttp2>;
}

export interface AttackedOptions {
  readonly limits?: Partial<Http2Limits>;
  readonly maxReceiveBytes?: number;
}

/** A transport, an attacker, and somebody who has to be served meanwhile; all closed after each test. */
export function attackedSetup(): (options?: AttackedOptions) => Promise<Attacked> {
  const cleanups: (() => unknown)[] = [];
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  });

  return async ({ limits = {}, maxReceiveBytes = 64 * MIB } = {}) => {
    const reached: LimitName[] = [];
    const errors: unknown[] = [];
    const calls = { opened: 0, closed: 0 };
    const transport = http2TransportWith(limits)(methods(calls), {
      maxReceiveBytes,
      onHandlerError: (_path, error) => errors.push(error),
      observer: {
        limitReached: (limit) => reached.push(limit),
        resetReceived: () => undefined,
        goAwaySent: () => undefined,
        handshakeFailed: () => undefined,
      },
    });
    cleanups.push(() => transport.close());
    const address = await transport.listen({ host: '127.0.0.1', port: 0 });
    const stock = new StockClient(address);
    cleanups.push(() => stock.close());
    const bystander = bystanderOf(stock);
    await bystander.roundTrip();
    calls.opened = 0;

    const keep = (client: RawHttp2): RawHttp2 => {
      cleanups.push(() => client.destroy());
      return client;
    };
    return {
      ...{ transport, address, limits: reached, errors, calls, bystander },
      open: async (settings = []) => keep(await RawHttp2.open(address, settings)),
      connect: async () => keep(await RawHttp2.connect(address)),
    };
  };
}

/**
 * Sends `unit(1)`, `unit(2)`, … until `count` of them are out or the connection is over; the bystander is served after each
 * batch.
 *
 * @returns how many were sent
 */
export async function flood(
  client: RawHttp2,
  bystander: Bystander,
  unit: (index: number) => Buffer,
  { from = 1, count }: { readonly from?: number; readonly count: number },
): Promise<number> {
  let sent = 0;
  while (sent < count && !client.closed && client.socket.writable) {
    const batch: Buffer[] = [];
    for (let bytes = 0; bytes < BATCH_BYTES && sent < count; sent++) {
      const next = unit(from + sent);
      batch.push(next);
      bytes += next.length;
    }
    client.write(Buffer.concat(batch));
    await client.writable();
    await bystander.roundTrip();
  }
  return sent;
}

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Bytes that this process holds, client and server together. */
export function heldBytes(): number {
  // The first sweeps buffers beside us, the second waits until it has.
  collect();
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

function bystanderOf(client: StockClient): Bystander {
  const { call } = client.stream(ECHO);
  return {
    roundTrip: async () => {
      const sentAt = performance.now();
      const back = new Promise<void>((resolve, reject) => {
        const ended = (): void => reject(new Error('the call of the bystander ended'));
        call.once('status', ended);
        call.once('data', () => {
          call.off('status', ended);
          resolve();
        });
      });
      call.write(Buffer.from('still here?'));
      await back;
      return performance.now() - sentAt;
    },
  };
}

function methods(calls: { opened: number; closed: number }): Method[] {
  const method = (path: string, message: (call: Call, bytes: Buffer) => void, halfClosed: (call: Call) => void) => ({
    path,
    open: (call: Call): CallHandler => {
      calls.opened += 1;
      return {
        message: (bytes) => message(call, bytes),
        halfClosed: () => halfClosed(call),
        closed: () => {
          calls.closed += 1;
        },
      };
    },
  });
  const nothing = (): void => undefined;
  return [
    method(
      ECHO,
      (call, bytes) => call.send(bytes),
      (call) => call.end(),
    ),
    method(HOLD, nothing, nothing),
    method(SHORT, (call) => call.end(), nothing),
  ];
}

/** A gRPC message of so many bytes. */
export function message(bytes: number): Buffer {
  return framed(Buffer.alloc(bytes, 0x61));
}
