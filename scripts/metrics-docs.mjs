// Writes docs/metrics.md from the metric table; with --check it only tells whether the file is up to date.
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';

const root = new URL('../', import.meta.url);
const target = new URL('docs/metrics.md', root);
const { module } = await runnerImport(fileURLToPath(new URL('src/telemetry/metrics-docs.ts', root)));
const wanted = module.metricsMarkdown();

if (!process.argv.includes('--check')) {
  await writeFile(target, wanted);
} else if ((await readFile(target, 'utf8').catch(() => '')) !== wanted) {
  console.error('docs/metrics.md is out of date: run node scripts/metrics-docs.mjs');
  process.exitCode = 1;
}
