/**
 * What `npm start`, `npm test` and the checks need before anything else: packages and a build. Node's own modules only,
 * since nothing may be installed yet.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, rmSync, statSync, utimesSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

const READ_AS_IS = [join('redis', 'lua')];

/** Packages from the lock file, when they are missing or older than it. */
export function ensurePackages() {
  const installed = join(root, 'node_modules', '.package-lock.json');
  if (changedAt(installed) >= changedAt(join(root, 'package-lock.json'))) return;
  say('installing packages …');
  run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error']);
  // npm keeps the times of the archive; this marks when the lock file was followed.
  utimesSync(installed, new Date(), new Date());
}

/** The build in dist/, when a source is newer than it. */
export function ensureBuild() {
  ensurePackages();
  const marker = join(root, 'dist', 'cli', 'main.js');
  const sources = [join(root, 'package.json'), join(root, 'tsconfig.json'), join(root, 'tsconfig.build.json')];
  const newest = Math.max(...sources.map(changedAt), newestIn(join(root, 'src')));
  if (changedAt(marker) >= newest) return;
  say('building …');
  rmSync(join(root, 'dist'), { recursive: true, force: true });
  build();
  utimesSync(marker, new Date(), new Date());
}

/** Compiles the TypeScript, bundles the page of the admin port, and lays beside it what is read as it is. */
export function build() {
  run(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', 'tsconfig.build.json']);
  run(process.execPath, [join(root, 'scripts', 'page.mjs')]);
  for (const folder of READ_AS_IS) cpSync(join(root, 'src', folder), join(root, 'dist', folder), { recursive: true });
}

/** Runs a program in the checkout and ends this process when it fails. */
export function run(command, args, options = {}) {
  const done = spawnSync(command, args, { cwd: root, stdio: 'inherit', ...options });
  if (done.error) say(`${command}: ${done.error.message}`);
  if (done.status !== 0) process.exit(done.status ?? 1);
}

/** Progress goes to stderr, so that stdout holds results only. */
export function say(line) {
  process.stderr.write(`${line}\n`);
}

function changedAt(path) {
  return existsSync(path) ? statSync(path).mtimeMs : 0;
}

function newestIn(folder) {
  let newest = statSync(folder).mtimeMs;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    newest = Math.max(newest, entry.isDirectory() ? newestIn(path) : statSync(path).mtimeMs);
  }
  return newest;
}
