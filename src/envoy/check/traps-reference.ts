import { TRAPS } from './all-traps.ts';
import type { Trap } from './trap.ts';

const INTRO = `# Checks of an Envoy configuration

What \`smg-envoy check --envoy FILE\` looks for, by the numbers that it prints. An error breaks requests or sends them astray
and makes the command end with 2; a warning does so under load, on a failure or for some requests; a note is good to know.
The command is described in [cli.md](cli.md#check), what the parts of a configuration are for in
[envoy.md](../guides/envoy.md).

Whether a trap applies often depends on the settings: give \`check\` the flags, environment and \`--config\` of \`serve\`.

Made from the table in \`src/envoy/check/traps/\` by \`node scripts/reference.mjs\`; do not edit.
`;

/** The text of docs/reference/envoy-checks.md. */
export function trapsReference(): string {
  const rows = TRAPS.map(({ id, level, title }) => `| [${id}](#${id.toLowerCase()}) | ${level} | ${title} |`);
  return `${INTRO}\n| | level | what |\n|---|---|---|\n${rows.join('\n')}\n\n${TRAPS.map(section).join('\n')}`;
}

function section({ id, level, levelBy, refused, title, consequence, into, cure, remark }: Trap): string {
  const levels = `${level}${levelBy === undefined ? '' : `; ${levelBy}`}`;
  const refusal = refused === true && !consequence.includes('refuses') ? ' Envoy refuses the file by itself.' : '';
  const remarks = remark === undefined ? '' : `\n${remark}\n`;
  return `### ${id}

**${sentence(title)}** ${consequence}${refusal}

Level: ${levels}. In ${into}:

\`\`\`yml
${cure}
\`\`\`
${remarks}`;
}

/** Names of fields keep their case. */
function sentence(title: string): string {
  const [first = ''] = title.split(' ');
  return `${/[_.-]/.test(first) ? title : `${title.charAt(0).toUpperCase()}${title.slice(1)}`}.`;
}
