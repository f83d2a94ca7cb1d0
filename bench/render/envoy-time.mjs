/** What each part of the generated configuration costs inside Envoy, in processor time. */
import { median } from '../lib/stats.mjs';
import { AGAIN, ladderOf, PLAIN, partsOf, titleOf, WHOLE } from './envoy-parts.mjs';
import { figure, signed, table } from './format.mjs';

/** Envoy's microseconds of a request by which the second variant is below the first: a value for each round. */
function saved({ samples }, first, second, load) {
  const rounds = (name) => samples.find((row) => row.name === name)[load];
  const below = rounds(second);
  return rounds(first).map(({ envoyUs }, round) => envoyUs - below[round].envoyUs);
}

const hasRow = ({ rows }, name) => rows.some((row) => row.name === name);

/** How much the same configuration differed from itself, in the middle and in one round. */
function noiseOf(timed, load) {
  const differences = saved(timed, WHOLE, AGAIN, load);
  return { middle: median(differences), most: Math.max(...differences.map(Math.abs)) };
}

/** Parts by what they cost at full load, the dearest first. */
function partsTable(timed) {
  const added = hasRow(timed, PLAIN) ? median(saved(timed, WHOLE, PLAIN, 'closed')) : null;
  const most = hasRow(timed, AGAIN) ? noiseOf(timed, 'closed').most : null;
  const parts = partsOf(timed.rows)
    .map((row) => ({ ...row, rounds: saved(timed, WHOLE, row.name, 'closed') }))
    .map((row) => ({ ...row, middle: median(row.rounds) }))
    .sort((a, b) => b.middle - a.middle);
  return table(
    ['', 'Envoy', 'saved', 'of the rounds', 'of what is added', 'above noise', 'saved at the rate', 'service'],
    parts.map(({ name, closed, rounds, middle }) => [
      name,
      figure(closed.envoyUs, 'µs'),
      signed(middle, 'µs'),
      `${signed(Math.min(...rounds))} to ${signed(Math.max(...rounds))}`,
      added === null ? '–' : signed((middle / added) * 100, '%'),
      most === null || name === AGAIN ? '–' : Math.abs(middle) > most ? 'yes' : 'no',
      signed(median(saved(timed, WHOLE, name, 'paced')), 'µs'),
      figure(closed.serviceUs, 'µs'),
    ]),
  );
}

function ladderTable(timed) {
  const rows = ladderOf(timed.rows);
  return table(
    ['', 'Envoy', 'this step', 'all until here', 'Envoy, at the rate', 'all until here', 'p50 at the rate'],
    rows.map(({ name, closed, paced }, at) => [
      titleOf(name),
      figure(closed.envoyUs, 'µs'),
      at === 0 ? '–' : signed(median(saved(timed, rows[at - 1].name, name, 'closed')), 'µs'),
      at === 0 ? '–' : signed(median(saved(timed, WHOLE, name, 'closed')), 'µs'),
      figure(paced.envoyUs, 'µs'),
      at === 0 ? '–' : signed(median(saved(timed, WHOLE, name, 'paced')), 'µs'),
      figure(paced.p50Ms, 'ms'),
    ]),
  );
}

function wholeText(timed) {
  const of = (name) => figure(timed.rows.find((row) => row.name === name).closed.envoyUs, 'µs');
  const beside = hasRow(timed, PLAIN)
    ? `, plain Envoy ${of(PLAIN)}: what is added is ${figure(median(saved(timed, WHOLE, PLAIN, 'closed')), 'µs')}`
    : '';
  const noise = hasRow(timed, AGAIN) ? noiseOf(timed, 'closed') : undefined;
  const same =
    noise === undefined
      ? ''
      : ` The same configuration once more
differed by ${signed(noise.middle, 'µs')}, and by ${figure(noise.most, 'µs')} in its worst round: what is not above that is noise.`;
  return `As generated, Envoy takes ${of(WHOLE)} for a request at full load${beside}.${same}`;
}

export function timedText({ settings }, timed) {
  return `### In time

All Envoys are up at once and take turns for ${figure(settings.rounds)} rounds of ${figure(settings.seconds, 's')} at full load (${figure(settings.connections)} connections) and of as long at
${figure(settings.rate)} requests a second. The figure is the processor time that Envoy takes for a request, with the kernel's share; what is
saved is taken within each round first: its median, least and greatest. The service's own time at full load stands last.

${wholeText(timed)}

**One part less or changed**, the dearest first.

${partsTable(timed)}${ladderOf(timed.rows).length < 3 ? '' : `\n\n**One part less after the other**, each line without all of the lines above.\n\n${ladderTable(timed)}`}`;
}
