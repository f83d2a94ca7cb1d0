import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Header in which our services are told to repeat the destination of a pick. */
export const PICK_HEADER = 'x-destination';
/** Response header of a worker: the destination that a request came with. */
export const SAW_PICK_HEADER = 'x-saw-destination';

/** The worker that was picked: the others of a destination are for retries. */
export function firstOf(destination: string | undefined): string | undefined {
  return destination?.split(',')[0];
}

/** A worker that tells what pick a request came with. */
export interface Worker {
  readonly url: string;
  readonly port: number;
  close(): void;
}

export async function startWorker(): Promise<Worker> {
  const server: Server = createServer((request, response) => {
    response.setHeader(SAW_PICK_HEADER, request.headers[PICK_HEADER] ?? '');
    response.end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
