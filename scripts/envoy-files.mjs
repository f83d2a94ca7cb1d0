/**
 * Writes envoy/*.yaml, the output of `smg-envoy envoy-config` for the flags in envoy/cases.json. With --check nothing is
 * written, and a file that differs is an error.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureBuild, root, say } from './setup.mjs';

ensureBuild();
const check = process.argv.includes('--check');
const cases = JSON.parse(readFileSync(join(root, 'envoy', 'cases.json'), 'utf8'));
const stale = [];
for (const [file, flags] of Object.entries(cases)) {
  const path = join(root, 'envoy', file);
  const program = join(root, 'bin', 'smg-envoy.js');
  // The environment may hold settings of the service, which do not belong into these files.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('SMG_')));
  const text = execFileSync(process.execPath, [program, 'envoy-config', ...flags], { encoding: 'utf8', env });
  if (existsSync(path) && readFileSync(path, 'utf8') === text) continue;
  stale.push(file);
  if (!check) writeFileSync(path, text);
}
if (check && stale.length > 0) {
  say(`envoy/: ${stale.join(', ')} differ from the generator; run node scripts/envoy-files.mjs`);
  process.exit(1);
}
if (stale.length > 0) say(`envoy/: wrote ${stale.join(', ')}`);
