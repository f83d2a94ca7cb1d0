/**
 * Writes docs/performance.md from the newest results in bench/results: `node bench/render.mjs`. `--check` changes nothing and
 * fails when the page is not what the results give.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, say } from '../scripts/setup.mjs';
import { performancePage } from './render/page.mjs';

const folder = join(root, 'bench', 'results');
const target = join(root, 'docs', 'performance.md');

/** The newest result of a kind; names begin with a date. */
function newest(kind) {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const name = names
    .filter((each) => each.endsWith(`-${kind}.json`))
    .sort()
    .at(-1);
  return name === undefined ? undefined : { name, ...JSON.parse(readFileSync(join(folder, name), 'utf8')) };
}

const endToEnd = newest('end-to-end');
const micro = newest('micro');
if (endToEnd === undefined || micro === undefined) {
  say(
    'no results yet: bench/run.mjs and bench/micro.mjs with --out bench/results/DATE-end-to-end.json and …-micro.json',
  );
  process.exit(existsSync(target) ? 1 : 0);
}
const page = performancePage(endToEnd, micro, newest('affinity'), newest('ha'));
if (!process.argv.includes('--check')) writeFileSync(target, page);
else if (!existsSync(target) || readFileSync(target, 'utf8') !== page) {
  say('docs/performance.md is not what bench/results gives: run `node bench/render.mjs`');
  process.exit(1);
}
