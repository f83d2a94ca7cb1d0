// Writes the table of what each processing mode can decide into its page. A unit test holds the page to it.
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';

const root = fileURLToPath(new URL('..', import.meta.url));
const file = `${root}/test/support/body-modes.ts`;
const { module } = await runnerImport(file, { root, configFile: false, logLevel: 'error' });
const path = `${root}/${module.BODY_MODES_PAGE}`;
await writeFile(path, module.withTable(await readFile(path, 'utf8')));
