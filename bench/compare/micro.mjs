/** The micro-benchmark of each commit itself, in turns; rows of the same name are compared. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../scripts/setup.mjs';
import { own } from '../lib/own.mjs';

/** Parts that are rows of time and bytes. */
const PARTS = ['decisions', 'scan', 'pins'];

/** Yields `{ name, unit, lessIsBetter, base, ours }` of each figure of each round. */
export async function* microRounds({ base, settings, only }) {
  const parts = only ?? PARTS.slice(0, 2);
  for (let round = 0; round < settings.rounds; round++) {
    const results = {};
    const sides = [
      ['base', base.folder],
      ['ours', root],
    ];
    for (const [side, folder] of round % 2 === 0 ? sides : sides.toReversed()) {
      results[side] = await runMicro(folder, parts, join(base.folder, '..', `${side}.json`));
    }
    for (const part of parts) {
      for (const row of results.ours[part] ?? []) {
        const before = results.base[part]?.find((each) => each.name === row.name);
        if (before === undefined) continue;
        for (const [figure, unit] of [
          ['micros', 'µs'],
          ['bytes', 'bytes'],
        ]) {
          // Bytes of next to nothing are noise of the heap.
          if (!(before[figure] > (figure === 'bytes' ? 64 : 0)) || row[figure] === undefined) continue;
          const name = `${part}, ${row.name}: ${figure}`;
          yield { name, unit, lessIsBetter: true, base: before[figure], ours: row[figure] };
        }
      }
    }
  }
}

async function runMicro(folder, parts, out) {
  const args = [join('bench', 'micro.mjs'), ...parts, '--rounds', '5', '--out', out];
  const child = own(spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] }));
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`bench/micro.mjs ended with code ${code}`);
  return JSON.parse(readFileSync(out, 'utf8'));
}
