/** The text of docs/performance.md. Every figure in it comes from the results. */
import { affinityText } from './affinity.mjs';
import { budgets } from './budgets.mjs';
import { compareText } from './compare.mjs';
import { heldTable } from './end-to-end.mjs';
import { envoyCostText } from './envoy-cost.mjs';
import { figure, size } from './format.mjs';
import { withPrompts, withWorkers } from './growth.mjs';
import { replicasText } from './ha.mjs';
import { heldText } from './held.mjs';
import { decisionTable, ledgerTable, pinsTable, protocolsTable, scanTable, snapshotTable } from './micro.mjs';
import { multiCoreText } from './multi-core.mjs';
import { policiesTable } from './policies.mjs';
import { resetsText } from './resets.mjs';
import { soakText } from './soak.mjs';
import { fileLink, from, sourceRow } from './sources.mjs';
import { throughEnvoyText } from './through-envoy.mjs';
import { transportText } from './transport.mjs';

/** What is measured, in the order of the page; a kind without a result has neither a row nor a section. */
const SOURCES = {
  'end-to-end': 'through Envoy',
  'envoy-cost': 'parts of the Envoy configuration',
  transport: 'the transport',
  held: 'answers that stay open',
  resets: 'streams that end by a reset',
  soak: 'a long time',
  affinity: 'prompts that begin alike',
  ha: 'several replicas',
  'multi-core': 'one process or several',
  micro: 'inside',
  compare: 'against an earlier commit',
};

/** Sections between what passes through Envoy and the inside. */
const SECTIONS = {
  'end-to-end': throughEnvoyText,
  'envoy-cost': envoyCostText,
  transport: transportText,
  held: heldText,
  resets: resetsText,
  soak: soakText,
  affinity: affinityText,
  ha: replicasText,
  'multi-core': multiCoreText,
};

/** @param results by kind; `end-to-end` and `micro` have to be there. Parts of `micro` that were not measured are left out, too. */
export function performancePage(results) {
  const { 'end-to-end': endToEnd, micro, compare } = results;
  const sections = Object.entries(SECTIONS)
    .filter(([kind]) => results[kind] !== undefined)
    .map(([kind, text]) => `${text(results[kind]).trimEnd()}\n\n`);
  const sources = Object.entries(SOURCES)
    .filter(([kind]) => results[kind] !== undefined)
    .map(([kind, title]) => sourceRow(title, results[kind]));
  return `<!-- Written by bench/render.mjs from bench/results. Do not edit. -->
# Performance

What the service costs: to a request that passes through Envoy, and inside its process. Read the ratios; the absolute figures
belong to this machine, on whose cores the client, the workers, Envoy and the service ran side by side.

## On what

| | file | date | command | versions | on |
| --- | --- | --- | --- | --- | --- |
${sources.join('\n')}

smg-envoy ${endToEnd.versions.smgEnvoy}; ${endToEnd.machine.memoryGiB} GB, ${endToEnd.machine.platform}. Envoy runs with one worker thread, but where a section says otherwise.

## Budgets

${budgets(results)}

The decision is everything from the head (and body) of a request to the answer: read, decide, store the pin, count. The
messages around it are not in it; they are in the table of [one request](#one-request-inside). Added latency and processor time
through Envoy are those of the paced rounds below.

${sections.join('')}${insideText(endToEnd, micro)}
${compare === undefined ? '' : `${compareText(compare)}\n`}${shortcomings(endToEnd, micro)}
${REPEAT}`;
}

function insideText(endToEnd, micro) {
  return `## One request, inside

${from(micro)}

${decisionTable(micro)}

${micro.protocols === undefined ? '' : protocolsText(micro)}## How the cost grows

${from(micro)}

**With workers.** Time of a decision without reading the request.

${policiesTable(micro)}
${withWorkers(micro)}
${snapshotTable(micro)}

A change of state of one worker makes a new snapshot of all: read it as what a probe costs that changes something.

**With keys.**

${pinsTable(micro)}

**With bytes of the prompt.** The scan finds \`rid\` and \`model\` at the top level and decodes nothing else. A header key costs the
same for any prompt.

${scanTable(micro)}

${withPrompts(micro)}${openText(endToEnd)}A request in flight is one entry in the ledger.

${ledgerTable(micro)}
`;
}

/** Memory of requests that wait. */
function openText(endToEnd) {
  const { held } = endToEnd.scenarios;
  if (held === undefined) return '';
  return `**With requests that wait.** ${figure(Object.values(held.summary)[0].open)} requests at once whose workers keep them waiting: resident memory that came to each process,
for each request. The service's figures tell the order of size only: a heap that had room shows little, one that grew shows
more. From ${fileLink(endToEnd)}.

${heldTable(endToEnd)}

`;
}

function shortcomings(endToEnd, micro) {
  const full = endToEnd.scenarios.capacity.summary;
  const withMessages = (name) => micro.decisions.find((row) => row.name === `${name}, with messages`);
  const share = (variant, name) => (withMessages(name).micros / 1000 / full[variant].serviceCpuMs) * 100;
  return `## What is not good yet

- **Around a decision.** A decision with its messages (${fileLink(micro)}) is ${figure(share('header-1k', 'headers'))} % of the processor time that the
  service takes for a request with a header key at full load (${fileLink(endToEnd)}), and ${figure(share('rid-1k', '1 KB body'))} % with a body
  \`rid\`. The rest is what lies between: sockets, HTTP/2, gRPC, and the access log that tells the end of the request.
- **Memory of messages.** Of the ${size(withMessages('headers').bytes)} that a request with a header key allocates, the decision makes ${size(micro.decisions[0].bytes)}.
- **An idle process** is larger than what it holds: while modules load, V8 makes its space for young objects large, and keeps
  it. Node's option \`max-semi-space-size\` keeps it small, at the price of more frequent collections under load. The
  largest single part of the rest is the schema library (zod) behind settings and workers.
- **Long bodies.** A body that has to be read travels to the service and holds its request back until it is whole, in Envoy and
  here. A key in a header avoids all of it.
- **What these figures are not.** One machine, ${endToEnd.machine.cores} shared cores, plaintext, loopback, workers that answer at once, pins in
  memory. Take differences below 15 % as none, and a p99 as good for a factor of two.
`;
}

const REPEAT = `## Repeat it

\`\`\`sh
node bench/run.mjs        # through Envoy, with SMG from PyPI beside it, about 20 minutes
node bench/envoy-cost.mjs # parts of the Envoy configuration, about 15 minutes
node bench/transport.mjs  # the service without Envoy, about 15 minutes
node bench/held.mjs       # answers that stay open, about 5 minutes
node bench/resets.mjs     # streams that end by a reset, 10 minutes
node bench/soak.mjs       # mixed traffic, an hour
node bench/affinity.mjs   # prompts that begin alike, about 4 minutes
node bench/ha.mjs         # several replicas, about 8 minutes; needs redis-server
node bench/multi-core.mjs # one process or several, about 3 minutes; needs redis-server
node bench/micro.mjs      # inside, about 6 minutes
node bench/compare.mjs    # against another commit, which is its argument
node bench/render.mjs     # this page, from the newest files in bench/results
\`\`\`

The settings above are options of the same name. Results go to \`bench/results/local/\`, which git ignores; the option \`out\`
names another file. This page is made of the newest \`bench/results/DATE-KIND.json\` of each kind; a kind is the name of the
benchmark, but for \`end-to-end\` of \`run.mjs\`. Leave the machine alone meanwhile.
`;

function protocolsText(micro) {
  return `**By stream or by call.** The processor time that a request takes here in all, our HTTP/2 included, asked for by a client that
plays Envoy: a stream of ext_proc, or a call of [ext_authz](guides/ext-authz.md).

${protocolsTable(micro)}

`;
}
