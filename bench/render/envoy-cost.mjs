/** What each part of the generated configuration costs inside Envoy. */
import { median } from '../lib/stats.mjs';
import { figure, signed, table } from './format.mjs';
import { from } from './sources.mjs';

const WHOLE = 'generated';
const AGAIN = 'generated, again (noise)';
const PLAIN = 'plain';
const LADDER = 'ladder: ';

/** Envoy's microseconds of a request by which the second variant is below the first: a value for each round. */
function saved({ samples }, first, second, load) {
  const rounds = (name) => samples.find((row) => row.name === name)[load];
  const below = rounds(second);
  return rounds(first).map(({ envoyUs }, round) => envoyUs - below[round].envoyUs);
}

const hasRow = ({ rows }, name) => rows.some((row) => row.name === name);

/** The most that the same configuration differed from itself, in the middle and in one round. */
function noiseOf(result, load) {
  const differences = saved(result, WHOLE, AGAIN, load);
  return { middle: median(differences), most: Math.max(...differences.map(Math.abs)) };
}

/** Parts by what they cost at full load, the dearest first. */
function partsTable(result) {
  const added = hasRow(result, PLAIN) ? median(saved(result, WHOLE, PLAIN, 'closed')) : null;
  const most = hasRow(result, AGAIN) ? noiseOf(result, 'closed').most : null;
  const parts = result.rows
    .filter(({ name }) => name !== WHOLE && name !== PLAIN && !name.startsWith(LADDER))
    .map((row) => ({ ...row, rounds: saved(result, WHOLE, row.name, 'closed') }))
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
      signed(median(saved(result, WHOLE, name, 'paced')), 'µs'),
      figure(closed.serviceUs, 'µs'),
    ]),
  );
}

/** From all of it down to the filter alone, in the order of the file. */
function ladderTable(result) {
  const steps = result.rows.filter(({ name }) => name.startsWith(LADDER));
  const rows = [result.rows.find(({ name }) => name === WHOLE), ...steps];
  if (hasRow(result, PLAIN)) rows.push(result.rows.find(({ name }) => name === PLAIN));
  return table(
    ['', 'Envoy', 'this step', 'all until here', 'Envoy, at the rate', 'all until here', 'p50 at the rate'],
    rows.map(({ name, closed, paced }, at) => [
      name === WHOLE ? 'as generated' : name === PLAIN ? 'plain Envoy' : name.slice(LADDER.length),
      figure(closed.envoyUs, 'µs'),
      at === 0 ? '–' : signed(median(saved(result, rows[at - 1].name, name, 'closed')), 'µs'),
      at === 0 ? '–' : signed(median(saved(result, WHOLE, name, 'closed')), 'µs'),
      figure(paced.envoyUs, 'µs'),
      at === 0 ? '–' : signed(median(saved(result, WHOLE, name, 'paced')), 'µs'),
      figure(paced.p50Ms, 'ms'),
    ]),
  );
}

function wholeText(result) {
  const { rows } = result;
  const whole = rows.find(({ name }) => name === WHOLE);
  const plain = rows.find(({ name }) => name === PLAIN);
  const beside =
    plain === undefined
      ? ''
      : `, plain Envoy ${figure(plain.closed.envoyUs, 'µs')}: what is added is ${figure(median(saved(result, WHOLE, PLAIN, 'closed')), 'µs')}`;
  const noise = hasRow(result, AGAIN) ? noiseOf(result, 'closed') : undefined;
  const same =
    noise === undefined
      ? ''
      : ` The same configuration once more
differed by ${signed(noise.middle, 'µs')}, and by ${figure(noise.most, 'µs')} in its worst round: what is not above that is noise.`;
  return `As generated, Envoy takes ${figure(whole.closed.envoyUs, 'µs')} for a request at full load${beside}.${same}`;
}

/** Parts are not all there for speed: what a variant broke. */
function brokenText({ rows }) {
  const failed = rows.reduce((sum, { closed, paced }) => sum + closed.failed + paced.failed, 0);
  const split = rows.filter(
    ({ name, closed, paced }) => name !== PLAIN && !name.startsWith(LADDER) && closed.split + paced.split > 0,
  );
  const names = split.map(({ name }) => `"${name}"`).join(', ');
  return `${figure(failed)} requests failed. ${split.length === 0 ? 'With all of the first table, requests stayed with the worker of their conversation.' : `Requests left the worker of their conversation with ${names}: no conversation holds without what these change.`}`;
}

export function envoyCostText(result) {
  const { settings, rows } = result;
  const ladder = rows.some(({ name }) => name.startsWith(LADDER));
  return `## What each part of the Envoy configuration costs

${from(result)}

One Envoy for each variant of the generated configuration, all asking one service (that on a Unix socket
a second one), key in a header of a request of 1 KB; they take turns for ${figure(settings.rounds)} rounds of ${figure(settings.seconds, 's')} at full load (${figure(settings.connections)} connections) and of as long at ${figure(settings.rate)} requests a second. The figure is the processor
time that Envoy takes for a request; what is saved is taken within each round first, its median, least and greatest. A part
that makes the service work is not all in it: the service's own time at full load stands last. What a part does for a
request in trouble, no request here needed.

${wholeText(result)}

**One part less or changed**, the dearest first.

${partsTable(result)}

${ladder ? `**One part less after the other**, each line without all of the lines above.\n\n${ladderTable(result)}\n\n` : ''}${brokenText(result)}
`;
}
