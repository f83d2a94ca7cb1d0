// Writes envoy/*.yaml, the output of `smg-envoy envoy-config` for the flags in envoy/cases.json, and the manifests under
// deploy/ that are made from the same code. With --check it only compares, and fails when one differs.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';

const root = fileURLToPath(new URL('..', import.meta.url));
const load = async (path) =>
  (await runnerImport(`${root}/${path}`, { root, configFile: false, logLevel: 'error' })).module;
const { runProgram } = await load('src/cli/program.ts');
const { envoyConfigCommand } = await load('src/cli/commands/envoy-config.ts');
const { deployFiles } = await load('src/cli/deploy-files.ts');

const cases = JSON.parse(await readFile(`${root}/envoy/cases.json`, 'utf8'));
let stale = 0;
for (const [name, flags] of Object.entries(cases)) {
  let text = '';
  const shell = { env: {}, out: (more) => (text += more), err: (more) => process.stderr.write(more) };
  process.exitCode = await runProgram([envoyConfigCommand], ['envoy-config', ...flags], shell);
  if (process.exitCode !== 0) break;
  await settle(`envoy/${name}`, text);
}
for (const [path, text] of deployFiles()) await settle(path, text);
process.exitCode ||= stale === 0 ? 0 : 1;

async function settle(path, text) {
  const file = `${root}/${path}`;
  const old = await readFile(file, 'utf8').catch(() => undefined);
  if (old === text) return;
  if (process.argv.includes('--check')) {
    console.error(`${path} is stale: run node scripts/envoy-files.mjs`);
    stale += 1;
    return;
  }
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
  console.log(`wrote ${path}`);
}
