import { runnerImport } from 'vite';
import { root } from '../../scripts/setup.mjs';

/** What the end-to-end tests run the product with, and an Envoy for it. */
export async function loadKit() {
  if (process.env.ENVOY_BIN === undefined) {
    const { ensureEnvoy } = await import('../../dist/demo/envoy-runtime.js');
    const envoy = await ensureEnvoy();
    if (envoy.kind === 'binary') process.env.ENVOY_BIN = envoy.path;
  }
  const options = { root, configFile: false, logLevel: 'error' };
  const { module } = await runnerImport(`${root}/test/support/services.ts`, options);
  return module;
}
