import { figure } from './format.mjs';
import { indexTable, pausesTable, promptsTable, promptTextTable, treesTable } from './memory.mjs';
import { pacedTable, slowest } from './policies.mjs';

/** What more workers make of a decision, where that was measured. */
export function withWorkers(micro) {
  if (micro.paced === undefined) return '';
  const { name, workers, micros } = slowest(micro);
  const { rate, seconds } = micro.settings;
  const least = Math.min(...micro.paced.map(({ perSecond }) => perSecond));
  return `
The fleet is at work: 100,000 pins in the store, requests in flight on most workers, a load report of each. Read the growth: what
is linear looks at each worker, as its rule wants it.

**At a steady rate.** Whole decisions with ${figure(micro.paced[0].workers)} workers, ${figure(rate)} a second for ${seconds} s each: read, decide, store the pin, open and end
the request, count; with the timers of the service.

${pacedTable(micro)}

Read the share: the rest of a processor is left at that rate. The slowest with ${figure(workers)} workers is ${name} with ${figure(micros, 'µs')}; the
least that was held is ${figure(least)} a second. A turn is how long the process was away at most: its work, its garbage, and
whatever else the machine did.
`;
}

/** What longer prompts and larger memories make of it, and how long the process stops for them. */
export function withPrompts(micro) {
  const { 'prompt-text': text, prompts, trees, index, pauses } = micro;
  const parts = [];
  if (text !== undefined) {
    parts.push(`A policy that looks at the prompt has its text or its ids decoded. Read it as the price of \`cache_aware\`, \`prefix_hash\` and
\`bucket\` over the scan alone.

${promptTextTable(micro)}`);
  }
  if (prompts !== undefined) {
    parts.push(`Whole decisions of \`cache_aware\`: body read, tree or index asked and told, seven eighths of the prompt known from others. Read
it by line: the bytes of a prompt cost more than the workers.

${promptsTable(micro)}`);
  }
  if (trees !== undefined) {
    parts.push(`**With what is remembered.** A match and an insert of a prompt whose beginning is known, by nodes of the tree and bytes of the
prompt. Read a column downwards: the size of the tree hardly matters.

${treesTable(micro)}`);
  }
  if (index !== undefined) {
    parts.push(`The hash index has an entry for each head of a prompt, whatever its length.

${indexTable(micro)}`);
  }
  if (pauses !== undefined) {
    parts.push(`**Pauses.** The longest turn of the event loop while much is forgotten at once: nobody is served for so long.

${pausesTable(micro)}

Read the first column of times. What leaves by itself goes in short pieces, many turns long. A prompt of 1 MB makes its room
at once.`);
  }
  return parts.map((part) => `${part}\n\n`).join('');
}
