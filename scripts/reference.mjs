// Writes the documents that are made from the code. With --check it only compares, and fails when one is stale.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';

const root = fileURLToPath(new URL('..', import.meta.url));
const { module } = await runnerImport(`${root}/src/cli/reference-files.ts`, {
  root,
  configFile: false,
  logLevel: 'error',
});

let stale = 0;
for (const [path, text] of module.referenceFiles()) {
  const file = `${root}/${path}`;
  const old = await readFile(file, 'utf8').catch(() => undefined);
  if (old === text) continue;
  if (process.argv.includes('--check')) {
    console.error(`${path} is stale: run node scripts/reference.mjs`);
    stale += 1;
  } else {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
    console.log(`wrote ${path}`);
  }
}
process.exitCode = stale === 0 ? 0 : 1;
