/**
 * Costs inside the service, without Envoy and without a network: `node bench/micro.mjs [part …] [--out FILE]`.
 *
 * Microseconds and bytes of one operation, on the built code. `--rounds`, `--ms` (a round of one case) and `--starts` make
 * it shorter or steadier.
 */
import { ensureBuild, say } from '../scripts/setup.mjs';
import { begin, finish } from './lib/report.mjs';

const { settings, positionals, report, out } = begin('micro', { rounds: 9, ms: 40, starts: 5 });
ensureBuild();
const { measure } = await import('./micro/measure.mjs');
const { decisionCases } = await import('./micro/decisions.mjs');
const { placementCases } = await import('./micro/placement.mjs');
const { policyCases } = await import('./micro/policies.mjs');
const { measurePrompts } = await import('./micro/prompts.mjs');
const { scanCases } = await import('./micro/scan.mjs');
const { promptTextCases } = await import('./micro/prompt-text.mjs');
const { ledgerCases, snapshotCases } = await import('./micro/fleet.mjs');
const { measurePins } = await import('./micro/pins.mjs');
const { measureProcess } = await import('./micro/process.mjs');
const { measureTrees } = await import('./micro/trees.mjs');

const PARTS = {
  decisions: () => measure(decisionCases(), settings),
  policies: () => measure(policyCases(), settings),
  placement: () => measure(placementCases(), settings),
  prompts: measurePrompts,
  scan: () => measure(scanCases(), settings),
  'prompt-text': () => measure(promptTextCases(), settings),
  snapshot: () => measure(snapshotCases(), settings),
  ledger: () => measure(ledgerCases(), settings),
  process: () => measureProcess(settings.starts),
  pins: measurePins,
  trees: measureTrees,
};

for (const name of positionals)
  if (!(name in PARTS)) throw new Error(`no part ${name}; parts are ${Object.keys(PARTS).join(', ')}`);
for (const [name, run] of Object.entries(PARTS)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  const result = await run();
  report[name] = result;
  say(`${name}:`);
  for (const row of [result].flat()) say(`  ${Object.values(row).join('\t')}`);
}
finish(report, out);
