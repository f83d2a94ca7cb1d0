/** A `smg-envoy serve` of its own process. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { root } from '../../scripts/setup.mjs';
import { own } from './own.mjs';

const READY_MS = 15_000;

/**
 * Starts it on free ports, or on the socket of its flags; answers when its ready line came.
 *
 * @param checkout folder of the checkout whose build is run, this one by default
 */
export async function startService(flags, checkout = root) {
  const program = join(checkout, 'bin', 'smg-envoy.js');
  const port = flags.includes('--grpc-socket') ? [] : ['--grpc-port', '0'];
  const args = [program, 'serve', ...port, '--admin-port', '0', '--log-level', 'error', ...flags];
  const started = performance.now();
  const child = own(spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] }));
  const gone = new Promise((resolve) => child.once('exit', resolve));
  const stop = async () => {
    child.kill('SIGTERM');
    const late = setTimeout(() => child.kill('SIGKILL'), 10_000);
    await gone;
    clearTimeout(late);
  };
  let text = '';
  try {
    const [, grpc, admin] = await new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error('the service is not ready in time')), READY_MS);
      child.once('exit', (code) => reject(new Error(`the service ended with code ${code}`)));
      child.stdout.on('data', (chunk) => {
        text += chunk;
        const match = /^smg-envoy ready grpc=(\S+) admin=(\S+)/m.exec(text);
        if (match === null) return;
        clearTimeout(late);
        resolve(match);
      });
    });
    return { pid: child.pid, grpc, admin, readyMs: performance.now() - started, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
