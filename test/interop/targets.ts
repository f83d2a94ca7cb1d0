import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { selfSigned } from '../../src/sim/certificate.ts';
import { ServiceProcess } from '../support/service-process.ts';
import { startTlsService } from './tls-service.ts';
import { SERVER_NAME, type Target, WAYS, type Way } from './way.ts';
import { PICK_HEADER } from './workers.ts';

/** Everything that clients call, one for each way. */
export interface Targets {
  at(way: Way): Target;
  close(): Promise<void>;
}

/**
 * In plain text the built service, once at a port and once at a Unix socket; with TLS, which `serve` has no flags for, our transport
 * with the same services behind it. All of them pick among these workers in turn.
 */
export async function startTargets(workers: readonly string[]): Promise<Targets> {
  const folder = mkdtempSync(join(tmpdir(), 'smg-interop-'));
  const closers: (() => Promise<void> | void)[] = [() => rmSync(folder, { recursive: true, force: true })];
  const close = async (): Promise<void> => {
    for (const end of closers.splice(0).reverse()) await end();
  };
  try {
    const caPath = join(folder, 'cert.pem');
    const certificate = selfSigned({ names: [SERVER_NAME, '127.0.0.1'], now: Date.now(), days: 2 });
    writeFileSync(caPath, certificate.cert);

    const flags = ['--policy', 'round_robin', '--destination-header', PICK_HEADER, '--worker-urls', ...workers];
    const addresses = new Map<Way, string>();
    for (const way of WAYS.filter(({ tls }) => !tls)) {
      const path = join(folder, 'plain.sock');
      const atPort = way.socket === 'TCP';
      const service = await ServiceProcess.start(atPort ? flags : [...flags, '--grpc-socket', path]);
      closers.push(() => service.stop(1_000));
      addresses.set(way, atPort ? `127.0.0.1:${service.grpcPort}` : `unix:${path}`);
    }

    const secure = startTlsService(workers, certificate);
    closers.push(() => secure.close());
    for (const way of WAYS.filter(({ tls }) => tls)) {
      const at = way.socket === 'TCP' ? { host: '127.0.0.1', port: 0 } : { socketPath: join(folder, 'tls.sock') };
      addresses.set(way, await secure.listen(at));
    }
    return { at: (way) => ({ way, address: addresses.get(way) ?? '', caPath }), close };
  } catch (error) {
    await close();
    throw error;
  }
}
