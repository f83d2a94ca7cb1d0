/** `npm run check`: everything about the code that needs no service. All steps run; a failed one is named at the end. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ensurePackages, root, say } from './setup.mjs';

ensurePackages();
const bin = (name) => join(root, 'node_modules', '.bin', name);
const script = (name) => [process.execPath, join(root, 'scripts', name), '--check'];

const STEPS = [
  ['format and lint', [bin('biome'), 'check', '--error-on-warnings', '.']],
  ['types', [bin('tsc'), '-p', 'tsconfig.json', '--noEmit']],
  ['types of the page', [bin('tsc'), '-p', join(root, 'src', 'dashboard', 'tsconfig.json'), '--noEmit']],
  ['dead code', [bin('knip')]],
  ['generated protocol code', script('generate.mjs')],
  ['generated reference', script('reference.mjs')],
  ['generated metrics page', script('metrics-docs.mjs')],
  ['generated Envoy configurations', script('envoy-files.mjs')],
  ['performance page', [process.execPath, join(root, 'bench', 'render.mjs'), '--check']],
  ['unit tests', [bin('vitest'), 'run', '--project', 'unit*', '--reporter=default']],
];

const failed = [];
for (const [name, [command, ...args]] of STEPS) {
  say(`— ${name}`);
  const started = performance.now();
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  if (error) say(error.message);
  say(`  ${status === 0 ? 'ok' : 'FAILED'} (${((performance.now() - started) / 1000).toFixed(1)} s)`);
  if (status !== 0) failed.push(name);
}
if (failed.length > 0) {
  say(`check failed: ${failed.join(', ')}`);
  process.exit(1);
}
say('check passed');
