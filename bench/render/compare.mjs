/** The working tree against another commit. */
import { figure, table } from './format.mjs';
import { from } from './sources.mjs';

export function compareText(result) {
  const { base, bench, figures, settings, versions } = result;
  return `## Against an earlier commit

${from(result)}

Commit ${versions.commit} beside ${base}, each built for itself, in turns, ${figure(settings.rounds)} rounds of \`bench/${bench}.mjs\`. The ratio is the median of the
ratios within rounds; worse is what lost more than ${figure(settings['worse-percent'], '%')} by it, and something in every round.

${table(
  ['', base, versions.commit, 'ratio', 'least', 'greatest', 'worse'],
  figures.map((row) => [
    row.figure,
    figure(row.base, row.unit),
    figure(row.ours, row.unit),
    figure(row.ratio),
    figure(row.least),
    figure(row.greatest),
    row.worse ? '**yes**' : 'no',
  ]),
)}
`;
}
