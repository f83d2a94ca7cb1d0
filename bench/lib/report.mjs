/** What every result file begins with: when, how, on what. No names or paths of the machine. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, totalmem } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { root, say } from '../../scripts/setup.mjs';

/**
 * The options of a benchmark and its start of a report.
 *
 * @param kind name in the report and in the default file
 * @param defaults numbers by option name, each of which a flag may change
 */
export function begin(kind, defaults) {
  const options = { out: { type: 'string' }, only: { type: 'string' } };
  for (const name of Object.keys(defaults)) options[name] = { type: 'string' };
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  const settings = { ...defaults };
  for (const name of Object.keys(defaults)) {
    if (values[name] === undefined) continue;
    settings[name] = Number(values[name]);
    if (!(settings[name] > 0)) throw new Error(`--${name} ${values[name]}: expected a number above 0`);
  }
  const date = new Date().toISOString().slice(0, 10);
  const out = values.out ?? join(root, 'bench', 'results', 'local', `${date}-${kind}.json`);
  const report = {
    kind,
    date,
    command: commandLine(),
    machine: {
      cpu: cpus()[0]?.model.trim() ?? 'unknown',
      cores: availableParallelism(),
      memoryGiB: Math.round(totalmem() / 2 ** 30),
      platform: `${process.platform} ${process.arch}`,
    },
    versions: { smgEnvoy: packageVersion(), commit: commit(), node: process.versions.node },
    settings,
  };
  return { settings, positionals, only: values.only?.split(',') ?? null, report, out };
}

/** The command as it was given, without the place of its result. */
function commandLine() {
  const words = process.argv.slice(2);
  const out = words.indexOf('--out');
  if (out >= 0) words.splice(out, 2);
  const kept = words.filter((word) => !word.startsWith('--out='));
  return ['node', relative(root, process.argv[1]), ...kept].join(' ');
}

export function finish(report, out) {
  mkdirSync(dirname(out), { recursive: true });
  writeFileSync(out, `${JSON.stringify(report, null, 2)}\n`);
  say(`written to ${relative(process.cwd(), out)}`);
}

function packageVersion() {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version;
}

/** What was checked out, and whether what ran is more than that. */
function commit() {
  const head = git('rev-parse', '--short', 'HEAD');
  if (head === undefined) return 'unknown';
  const changed = git('status', '--porcelain', '--', 'src', 'bench', 'package-lock.json', ':!bench/results');
  return changed === '' ? head : `${head} with changes`;
}

function git(...words) {
  const asked = spawnSync('git', words, { cwd: root, encoding: 'utf8' });
  return asked.status === 0 ? asked.stdout.trim() : undefined;
}
