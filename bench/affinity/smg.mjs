/** The real SMG, as the parity suite installs and starts it. Its helpers are TypeScript, which Vite loads for us. */
import { join } from 'node:path';
import { runnerImport } from 'vite';
import { root } from '../../scripts/setup.mjs';

export const SMG_VERSION = '1.11.0';
const HELPER = join(root, 'test', 'support', 'smg-process.ts');
let helper;

/** Undefined when SMG is there or was installed, else why it is not. */
export async function findSmg() {
  helper = (await runnerImport(HELPER, { root, configFile: false, logLevel: 'error' })).module;
  return helper.findSmg();
}

export async function startSmg(flags, workers) {
  const smg = await helper.SmgProcess.start({ version: SMG_VERSION, flags, workers });
  return { port: Number(new URL(smg.url).port), pid: smg.pid, stop: () => smg.stop() };
}
