import { createServer } from 'node:net';
import { AppError } from '../util/app-error.ts';

/** A port of this host that nobody listens on now. */
export function freePort(host: string): Promise<number> {
  return bind(host, 0);
}

/**
 * Makes sure that a port can be taken, before anything is started.
 *
 * @throws AppError `address_in_use` that names the flag
 */
export async function requireFree(host: string, port: number, flag: string): Promise<void> {
  if (port === 0) return;
  try {
    await bind(host, port);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    const why = code === 'EADDRINUSE' ? 'is taken by another program' : `cannot be used (${String(code)})`;
    throw new AppError('address_in_use', `port ${port} of ${host} ${why}; choose another with ${flag}`, {
      cause: error,
    });
  }
}

/** Listens for a moment; answers with the port. */
function bind(host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(port, host, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : port));
    });
  });
}
