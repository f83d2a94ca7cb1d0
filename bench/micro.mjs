/**
 * Costs inside the service, without Envoy and without a network: `node bench/micro.mjs [part …] [--out FILE]`.
 *
 * Microseconds and bytes of one operation, on the built code. Each part has a process of its own, so that none pays for the
 * memory and the compiled code of another. `--rounds`, `--ms` (a round of one case), `--starts`, `--rate` and `--seconds`
 * (paced part) make it shorter or steadier.
 */
import { fork } from 'node:child_process';
import { ensureBuild, say } from '../scripts/setup.mjs';
import { own } from './lib/own.mjs';
import { begin, finish } from './lib/report.mjs';
import { PARTS, SETTINGS } from './micro/parts.mjs';

const { settings, positionals, report, out } = begin('micro', SETTINGS);
for (const name of positionals)
  if (!(name in PARTS)) throw new Error(`no part ${name}; parts are ${Object.keys(PARTS).join(', ')}`);
ensureBuild();
for (const name of Object.keys(PARTS)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  const started = performance.now();
  const result = await run(name);
  report[name] = result;
  say(`${name}: (${Math.round((performance.now() - started) / 1000)} s)`);
  for (const row of [result].flat()) say(`  ${Object.values(row).join('\t')}`);
}
finish(report, out);

function run(name) {
  const program = new URL('./micro/part.mjs', import.meta.url);
  const child = own(
    fork(program, [name, JSON.stringify(settings)], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] }),
  );
  return new Promise((resolve, reject) => {
    child.once('message', resolve);
    child.once('exit', (code) => reject(new Error(`part ${name} ended with code ${code}`)));
  });
}
