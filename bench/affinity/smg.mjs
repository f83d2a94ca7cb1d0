/** The real SMG, as the parity suite installs and starts it. Its helpers are TypeScript, which Vite loads for us. */
import { join } from 'node:path';
import { runnerImport } from 'vite';
import { root } from '../../scripts/setup.mjs';

const helper = join(root, 'test', 'support', 'smg-process.ts');
const { module } = await runnerImport(helper, { root, configFile: false, logLevel: 'error' });

/** Undefined when SMG is there or was installed, else why it is not. */
export const findSmg = module.findSmg;

export async function startSmg(flags, workers) {
  const smg = await module.SmgProcess.start({ version: '1.11.0', flags, workers });
  return { port: Number(new URL(smg.url).port), stop: () => smg.stop() };
}
