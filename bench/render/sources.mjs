/** Where figures come from: the newest result of each kind, how it was made, and its file. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const DATED = /^\d{4}-\d\d-\d\d-(.+)\.json$/;

/** The newest result of each kind in a folder, with the name of its file: `DATE-KIND.json`. */
export function newestIn(folder) {
  const results = {};
  for (const name of existsSync(folder) ? readdirSync(folder).sort() : []) {
    const kind = DATED.exec(name)?.[1];
    if (kind !== undefined) results[kind] = { name, ...JSON.parse(readFileSync(join(folder, name), 'utf8')) };
  }
  return results;
}

export function fileLink({ name }, text = name) {
  return `[${text}](../bench/results/${name})`;
}

/** The first line of a section. */
export function from(result) {
  return `From ${fileLink(result)}, ${result.date}, ${commandOf(result)}.`;
}

/** A line of the table of all sources. */
export function sourceRow(title, result) {
  const { date, versions, machine } = result;
  const { commit, node, envoy, smg, redis } = versions;
  const named = [
    ['commit', commit],
    ['Node', node],
    ['Envoy', envoy],
    ['SMG', smg],
    ['Redis', redis],
  ].filter(([, version]) => version !== undefined);
  const held = Object.entries(result.settings).map(([name, value]) => `${name} ${value}`);
  const cells = [
    title,
    fileLink(result),
    date,
    `${commandOf(result)} with ${held.join(', ')}`,
    named.map((words) => words.join(' ')).join(', '),
    `${machine.cpu}, ${machine.cores} cores`,
  ];
  return `| ${cells.join(' | ')} |`;
}

/** The command with what it was to measure; its other options are settings, which stand beside it. */
function commandOf({ command }) {
  const [words] = command.split(' --', 1);
  const only = / --only[= ](.+?)(?= --|$)/.exec(command)?.[1];
  return `\`${words}\`${only === undefined ? '' : `, only ${only.replace(/, ?/g, ', ')}`}`;
}

/** What a benchmark itself found wrong, which a table of medians may hide. */
export function problemsText({ problems }) {
  if (problems === undefined) return '';
  if (problems.length === 0) return 'The benchmark found no fault.';
  return `The benchmark found faults:\n\n${problems.map((each) => `- ${each}`).join('\n')}`;
}
