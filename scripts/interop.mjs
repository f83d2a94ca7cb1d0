// Writes the table of clients that the interop suite runs into its page. A unit test holds the page to it.
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';

const root = fileURLToPath(new URL('..', import.meta.url));
const file = `${root}/test/interop/table.ts`;
const { module } = await runnerImport(file, { root, configFile: false, logLevel: 'error' });
const path = `${root}/${module.INTEROP_PAGE}`;
await writeFile(path, module.withTable(await readFile(path, 'utf8')));
