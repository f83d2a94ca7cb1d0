import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { selfSigned } from '../../src/sim/certificate.ts';
import { ServiceProcess } from '../support/service-process.ts';
import { SERVER_NAME, type Target, WAYS, type Way } from './way.ts';
import { PICK_HEADER } from './workers.ts';

/** Everything that clients call, one for each way. */
export interface Targets {
  at(way: Way): Target;
  close(): Promise<void>;
}

/** The built service, in plain text and with TLS, each once at a port and once at a Unix socket. All of them pick among these workers in turn. */
export async function startTargets(workers: readonly string[]): Promise<Targets> {
  const folder = mkdtempSync(join(tmpdir(), 'smg-interop-'));
  const closers: (() => Promise<void> | void)[] = [() => rmSync(folder, { recursive: true, force: true })];
  const close = async (): Promise<void> => {
    for (const end of closers.splice(0).reverse()) await end();
  };
  try {
    const certPath = join(folder, 'cert.pem');
    const keyPath = join(folder, 'key.pem');
    const certificate = selfSigned({ names: [SERVER_NAME, '127.0.0.1'], now: Date.now(), days: 2 });
    writeFileSync(certPath, certificate.cert);
    writeFileSync(keyPath, certificate.key);

    const flags = ['--policy', 'round_robin', '--destination-header', PICK_HEADER, '--worker-urls', ...workers];
    const secured = ['--tls-cert-path', certPath, '--tls-key-path', keyPath];
    const addresses = new Map<Way, string>();
    for (const way of WAYS) {
      const path = join(folder, way.tls ? 'tls.sock' : 'plain.sock');
      const atPort = way.socket === 'TCP';
      const at = atPort ? [] : ['--grpc-socket', path];
      const service = await ServiceProcess.start([...flags, ...(way.tls ? secured : []), ...at]);
      closers.push(() => service.stop(1_000));
      addresses.set(way, atPort ? `127.0.0.1:${service.grpcPort}` : `unix:${path}`);
    }
    return { at: (way) => ({ way, address: addresses.get(way) ?? '', caPath: certPath }), close };
  } catch (error) {
    await close();
    throw error;
  }
}
