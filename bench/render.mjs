/**
 * Writes docs/performance.md from the newest results in bench/results: `node bench/render.mjs`. `--check` changes nothing and
 * fails when the page is not what the results give. `--results FOLDER` and `--page FILE` try it with others.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { root, say } from '../scripts/setup.mjs';
import { performancePage } from './render/page.mjs';
import { newestIn } from './render/sources.mjs';

const { values } = parseArgs({
  options: { check: { type: 'boolean' }, results: { type: 'string' }, page: { type: 'string' } },
});
const folder = resolve(values.results ?? join(root, 'bench', 'results'));
const target = resolve(values.page ?? join(root, 'docs', 'performance.md'));

const results = newestIn(folder);
if (results['end-to-end'] === undefined || results.micro === undefined) {
  say(
    'no results yet: bench/run.mjs and bench/micro.mjs with --out bench/results/DATE-end-to-end.json and …-micro.json',
  );
  process.exit(existsSync(target) ? 1 : 0);
}
const page = performancePage(results);
const hole = page.split('\n').find((line) => /\b(undefined|NaN|Infinity|null)\b|\[object /.test(line));
if (hole !== undefined) {
  say(`a figure is missing in the results: ${hole}`);
  process.exit(1);
}
if (values.check !== true) writeFileSync(target, page);
else if (!existsSync(target) || readFileSync(target, 'utf8') !== page) {
  say('docs/performance.md is not what bench/results gives: run `node bench/render.mjs`');
  process.exit(1);
}
