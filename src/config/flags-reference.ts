import { KNOWN_FLAGS } from './known-flags.ts';
import { envName, fileKey, flagName, GROUPS, type ReloadEffect, type Setting } from './setting.ts';
import { type AnyKey, TABLE } from './settings-table.ts';

const EFFECTS: Readonly<Record<ReloadEffect, string>> = {
  live: 'at once',
  restart: 'after a restart',
  envoy: 'with a new Envoy configuration',
};

/** `docs/reference/flags.md`: every setting with its names, default, range and status. */
export function flagsReference(): string {
  const lines = [
    '# Flags',
    '',
    'Made from the settings table by `node scripts/reference.mjs`; do not edit.',
    '',
    'A flag beats its environment variable (`SMG_` and the name in upper snake case), which beats the key of the config file',
    '(the name in snake case), which beats the default. An empty variable counts as unset. In the environment the items of a',
    'list are separated by blanks. "Change" says when a new value in the config file takes effect.',
    '',
    'A flag marked *later* is known and its value is checked, but it is refused by name until the feature exists; its default,',
    'and values that switch the feature off, are accepted.',
  ];
  for (const group of GROUPS) {
    lines.push(
      '',
      `## ${group}`,
      '',
      '| flag | variable | key | default | allowed | meaning | change |',
      '|---|---|---|---|---|---|---|',
    );
    for (const [key, setting] of TABLE) if (setting.group === group) lines.push(row(key, setting));
  }
  lines.push('', '## Flags of SMG that are not taken over', '', '| flag | instead, or why not |', '|---|---|');
  for (const [flag, reason] of [...KNOWN_FLAGS].sort()) lines.push(`| \`${flag}\` | ${cell(reason)} |`);
  return `${lines.join('\n')}\n`;
}

function row(key: AnyKey, setting: Setting): string {
  const others = [...(setting.aliases ?? []), ...(setting.negations ?? [])].map((name) => `\`--${name}\``);
  const shown = setting.type.show(setting.default);
  const many = setting.type.arity === 'many' ? 'list of: ' : '';
  const cells = [
    [`\`${flagName(key)}\``, ...others].join(', '),
    `\`${envName(key)}\``,
    key === 'config' ? '–' : `\`${fileKey(key)}\``,
    shown === '' ? '–' : `\`${shown}\``,
    `${many}${setting.type.allowed}`,
    `${setting.help}${setting.later === true ? ' (*later*)' : ''}`,
    key === 'config' ? '–' : EFFECTS[setting.reload],
  ];
  return `| ${cells.map(cell).join(' | ')} |`;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
