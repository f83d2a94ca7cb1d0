/**
 * `npm run fuzz -- TARGET [--inputs N] [--seconds S] [--seed N] [--replay FILE] [--plain] [--keep] [--missed] [--record]`
 *
 * The inputs run in a thread of their own; this one watches that each comes to an end. What is found is made shorter, kept in
 * `corpus/TARGET` and played again by every later run and by `npm test`.
 */
import { appendFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { build } from 'vite';

const here = fileURLToPath(new URL('.', import.meta.url));
const root = join(here, '..', '..');
const HANG_MS = 10_000;
const ROOM = 1024 * 1024;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    inputs: { type: 'string', default: '200000' },
    seconds: { type: 'string', default: '3600' },
    seed: { type: 'string', default: String(Date.now() % 1e9) },
    replay: { type: 'string' },
    plain: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
    missed: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
  },
});

const [target] = positionals;
const modules = await compile();
const { TARGETS } = await import(pathToFileURL(join(modules, 'test/fuzz/targets/index.js')).href);
const { keepInput } = await import(pathToFileURL(join(modules, 'test/fuzz/lib/corpus.js')).href);
if (target === undefined || !Object.hasOwn(TARGETS, target)) {
  console.error(`name a target: ${Object.keys(TARGETS).join(', ')}`);
  process.exit(2);
}

setFlagsFromString('--expose-gc');
const watched = { count: new SharedArrayBuffer(8), input: new SharedArrayBuffer(ROOM) };
const worker = new Worker(join(modules, 'test/fuzz/worker.js'), {
  workerData: {
    ...watched,
    target,
    folder: join(here, 'corpus', target),
    inputs: Number(values.inputs),
    seconds: Number(values.seconds),
    seed: Number(values.seed),
    replay: values.replay ?? null,
    plain: values.plain,
    keep: values.keep,
    missed: values.missed,
  },
});
const watch = setInterval(checkProgress, HANG_MS);
worker.on('message', (report) => {
  for (const line of report.lines) console.log(line);
  if (report.row !== null && values.record) appendFileSync(join(here, 'README.md'), `${report.row}\n`);
  process.exitCode = report.failed ? 1 : 0;
});
worker.on('error', (error) => {
  console.error(error);
  console.error(`the input: ${keepCurrent()}`);
  process.exitCode = 1;
});
worker.on('exit', () => clearInterval(watch));

/** Each source stays a file of its own, so that what ran can be told for each. */
async function compile() {
  const outDir = join(root, '.cache', `fuzz-${process.pid}`);
  process.on('exit', () => rmSync(outDir, { recursive: true, force: true }));
  await build({
    root,
    configFile: false,
    logLevel: 'warn',
    build: {
      ssr: true,
      outDir,
      target: 'node20',
      minify: false,
      rollupOptions: {
        input: ['test/fuzz/worker.ts', 'test/fuzz/targets/index.ts', 'test/fuzz/lib/corpus.ts'].map((file) =>
          join(root, file),
        ),
        output: { preserveModules: true, preserveModulesRoot: root, entryFileNames: '[name].js' },
      },
    },
  });
  return outDir;
}

let seen = -1;
function checkProgress() {
  const count = new Int32Array(watched.count)[0];
  if (count !== seen) {
    seen = count;
    return;
  }
  console.error(`an input hangs: ${keepCurrent()}`);
  process.exitCode = 1;
  clearInterval(watch);
  void worker.terminate();
}

function keepCurrent() {
  const length = new Int32Array(watched.count)[1];
  return keepInput(join(here, 'corpus', target), 'finding', Buffer.from(watched.input).subarray(0, length));
}
