import { connect, createServer, type Server, type Socket } from 'node:net';
import { freePort } from './ports.ts';

/** A way to a TCP service that can be made bad. */
export interface SlowProxy {
  readonly port: number;
  /** Milliseconds that every piece of data is held up, each way; from now on. */
  latencyMs: number;
  /** It goes on accepting, and lets nothing through until {@link restore}; what came is let through then. */
  blackHole(): void;
  /** Ends every connection; new ones are accepted. */
  cut(): void;
  /** Ends every connection, and refuses new ones until {@link restore}. */
  refuse(): Promise<void>;
  restore(): Promise<void>;
  readonly connections: number;
  close(): Promise<void>;
}

export async function slowProxy(target: number): Promise<SlowProxy> {
  const port = await freePort();
  const sockets = new Set<Socket>();
  let stuck: (() => void)[] | null = null;
  let latencyMs = 0;
  let server: Server | null = null;

  const forward = (from: Socket, to: Socket): void => {
    from.on('data', (data: Buffer) => {
      const send = (): void => {
        if (to.writable) to.write(data);
      };
      if (stuck !== null) stuck.push(send);
      else if (latencyMs > 0) setTimeout(send, latencyMs);
      else send();
    });
    from.once('close', () => {
      sockets.delete(from);
      to.destroy();
    });
    from.on('error', () => {});
    sockets.add(from);
  };
  const listen = async (): Promise<void> => {
    const fresh = createServer((client) => {
      const upstream = connect(target, '127.0.0.1');
      forward(client, upstream);
      forward(upstream, client);
    });
    server = fresh;
    await new Promise<void>((resolve) => fresh.listen(port, '127.0.0.1', resolve));
  };
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const refuse = async (): Promise<void> => {
    const closed = new Promise((resolve) => (server === null ? resolve(null) : server.close(resolve)));
    server = null;
    cut();
    await closed;
  };
  await listen();
  return {
    port,
    get latencyMs() {
      return latencyMs;
    },
    set latencyMs(ms) {
      latencyMs = ms;
    },
    blackHole: () => {
      stuck ??= [];
    },
    cut,
    refuse,
    restore: async () => {
      const held = stuck ?? [];
      stuck = null;
      for (const send of held) send();
      if (server === null) await listen();
    },
    get connections() {
      return sockets.size / 2;
    },
    close: refuse,
  };
}
