/** What each part of the generated configuration costs inside Envoy, in instructions of Envoy's own code. */
import { AGAIN, ladderOf, PLAIN, partsOf, titleOf, WHOLE } from './envoy-parts.mjs';
import { figure, signed, table } from './format.mjs';

export function countedText({ settings, counted }) {
  const instructions = (name) => counted.find((row) => row.name === name)?.instructions;
  const thousands = (value) => figure(value / 1000);
  const saved = (from, name) => instructions(from) - instructions(name);
  const added = instructions(PLAIN) === undefined ? null : saved(WHOLE, PLAIN);
  const noise = instructions(AGAIN) === undefined ? null : Math.abs(saved(WHOLE, AGAIN));
  const parts = partsOf(counted).sort((a, b) => a.instructions - b.instructions);
  const ladder = ladderOf(counted);
  const beside =
    added === null
      ? ''
      : `, plain Envoy ${thousands(instructions(PLAIN))}: what is added is ${thousands(added)} thousand`;
  const same = noise === null ? '' : ` The same configuration once more differed by ${thousands(noise)} thousand.`;
  const partsTable = table(
    ['', 'thousand instructions', 'saved', 'of what is added', 'above noise'],
    parts.map(({ name }) => [
      name,
      thousands(instructions(name)),
      signed(saved(WHOLE, name) / 1000),
      added === null ? '–' : signed((saved(WHOLE, name) / added) * 100, '%'),
      noise === null || name === AGAIN ? '–' : Math.abs(saved(WHOLE, name)) > noise ? 'yes' : 'no',
    ]),
  );
  const ladderTable = table(
    ['', 'thousand instructions', 'this step', 'all until here'],
    ladder.map(({ name }, at) => [
      titleOf(name),
      thousands(instructions(name)),
      at === 0 ? '–' : signed(saved(ladder[at - 1].name, name) / 1000),
      at === 0 ? '–' : signed(saved(WHOLE, name) / 1000),
    ]),
  );
  return `### In instructions

Counted by valgrind for ${figure(settings['counted-seconds'], 's')} of requests, one Envoy after the other: the code of Envoy and its libraries, on all of its threads,
divided by the requests. Other work of the machine hardly moves it, and what the kernel does for Envoy is not in it. As
generated, a request takes ${thousands(instructions(WHOLE))} thousand${beside}.${same}

**One part less or changed**, the dearest first.

${partsTable}${ladder.length < 3 ? '' : `\n\n**One part less after the other**, each line without all of the lines above.\n\n${ladderTable}`}`;
}
