/**
 * `npm test`: set-up, an Envoy for the tests, every suite, and the line `N passed, N failed, N skipped` at the end.
 * Arguments go to vitest. `REQUIRE=envoy,redis,smg` makes a missing service a failure instead of a skip (test/support/require.ts).
 */
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureBuild, root, say } from './setup.mjs';

ensureBuild();
const required = (process.env.REQUIRE ?? '').split(',').map((name) => name.trim());
const envoy = await findEnvoy();
if (envoy === undefined && required.includes('envoy')) process.exit(finish(0, 1, 0));

const results = join(root, '.cache', `test-results-${process.pid}.json`);
mkdirSync(join(root, '.cache'), { recursive: true });
const status = await vitest();
process.exit(report(status));

/** A binary for the tests; undefined when there is none (a container engine is looked for by the tests themselves). */
async function findEnvoy() {
  const module = pathToFileURL(join(root, 'dist', 'demo', 'envoy-runtime.js')).href;
  const { ensureEnvoy } = await import(module);
  try {
    return await ensureEnvoy(say);
  } catch (error) {
    say(error.message);
    return undefined;
  }
}

function vitest() {
  const entry = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${results}`];
  const env = envoy?.kind === 'binary' ? { ...process.env, ENVOY_BIN: envoy.path } : process.env;
  const args = [entry, 'run', ...reporters, ...process.argv.slice(2)];
  const child = spawn(process.execPath, args, { cwd: root, stdio: 'inherit', env });
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
  return new Promise((resolve) => {
    child.on('error', (error) => {
      say(error.message);
      resolve(1);
    });
    child.on('exit', (code) => resolve(code ?? 1));
  });
}

/** Prints the counts; the exit code is 0 only when nothing failed. */
function report(exitCode) {
  let counts = { numPassedTests: 0, numFailedTests: 0, numPendingTests: 0, numTodoTests: 0, testResults: [] };
  try {
    counts = { ...counts, ...JSON.parse(readFileSync(results, 'utf8')) };
  } catch {
    say('vitest left no results');
  }
  rmSync(results, { force: true });
  // A file that could not be loaded has no tests that could have failed.
  const broken = counts.testResults.filter((file) => file.status === 'failed' && file.assertionResults.length === 0);
  const failed = counts.numFailedTests + broken.length;
  const passed = counts.numPassedTests;
  return finish(passed, failed === 0 && exitCode !== 0 ? 1 : failed, counts.numPendingTests + counts.numTodoTests);
}

function finish(passed, failed, skipped) {
  process.stdout.write(`${passed} passed, ${failed} failed, ${skipped} skipped\n`);
  return failed === 0 ? 0 : 1;
}
