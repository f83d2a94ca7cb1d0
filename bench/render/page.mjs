/** The text of docs/performance.md. Every figure in it comes from the results. */
import { affinityText } from './affinity.mjs';
import { budgets } from './budgets.mjs';
import { capacityTable, cpuTable, heldTable, latencyTable, memoryTable, totals } from './end-to-end.mjs';
import { figure, size } from './format.mjs';
import { withPrompts, withWorkers } from './growth.mjs';
import { replicasText } from './ha.mjs';
import { decisionTable, ledgerTable, pinsTable, protocolsTable, scanTable, snapshotTable } from './micro.mjs';
import { policiesTable } from './policies.mjs';

/** @param affinity and `ha` are undefined as long as they were not measured; parts of `micro` that were not are left out, too */
export function performancePage(endToEnd, micro, affinity, ha) {
  const { settings, scenarios } = endToEnd;
  const { sent, failed, split } = totals(endToEnd);
  const open = scenarios.held.summary['rid-1k'].open;
  const full = scenarios.capacity.summary;
  const withMessages = (name) => micro.decisions.find((row) => row.name === `${name}, with messages`);
  const share = (variant, name) => (withMessages(name).micros / 1000 / full[variant].serviceCpuMs) * 100;
  const late = Math.max(...Object.values(scenarios.latency.summary).map((row) => row.lateP99Ms));
  return `<!-- Written by bench/render.mjs from bench/results. Do not edit. -->
# Performance

What the service costs: to a request that passes through Envoy, and inside its process. Read the ratios; the absolute figures
belong to this machine, on whose cores the client, the workers, Envoy and the service ran side by side.

## On what

| | |
| --- | --- |
| machine | ${endToEnd.machine.cpu}, ${endToEnd.machine.cores} cores, ${endToEnd.machine.memoryGiB} GB, ${endToEnd.machine.platform} |
| versions | smg-envoy ${endToEnd.versions.smgEnvoy} (${endToEnd.versions.commit}), Node ${endToEnd.versions.node}, Envoy ${endToEnd.versions.envoy} with one worker thread |
| through Envoy | ${endToEnd.date}, ${commandOf(endToEnd)}, [${endToEnd.name}](../bench/results/${endToEnd.name}) |
| inside | ${micro.date}, ${commandOf(micro)}, commit ${micro.versions.commit}, [${micro.name}](../bench/results/${micro.name}) |${affinityLine(affinity)}${haLine(ha)}

## Budgets

${budgets(endToEnd, micro, affinity)}

The decision is everything from the head (and body) of a request to the answer: read, decide, store the pin, count. The
messages around it are not in it; they are in the table of [one request](#one-request-inside). Added latency and processor time
are those of the paced rounds below.

## Through Envoy

Plain Envoy is the generated configuration without the ext_proc filter, the access log and the override: the same listener,
retries and limits, round robin over the same ${settings.workers} workers. With us it is the generated configuration as it is.
A header key (\`--routing-key-order header-first\`) is read from \`x-smg-routing-key\`, so the body never comes to the service; a
body \`rid\` has the service ask Envoy for the body. All variants are up at once and take turns for ${settings.rounds} rounds;
a figure is the median of the rounds, and a difference or ratio is taken within each round first.

${figure(sent)} requests were measured: ${failed} failed, and ${split} of those with a key left the worker of their conversation.

### Latency

${settings.rate} requests a second with 1 KB, ${settings['large-rate']} with 220 KB, evenly spaced, whatever the answers do; latency
counts from the time a request was due. The client was at most ${figure(late, 'ms')} late for 99 % of them (median of the rounds,
worst variant), which is in the figures.

${latencyTable(endToEnd)}

### Processor time of a request

${cpuTable(endToEnd)}

At a low rate a request costs more than at full load: it is a wake-up for each of its messages, where a busy process takes
several at once.

### Full load

${settings.connections} connections, each sending as soon as it has its answer. All processes share ${endToEnd.machine.cores} cores here, so that
what the service takes is missing for Envoy, the client and the workers.

${capacityTable(endToEnd)}

### Memory

Resident, of the processes of each variant: before the first request, after all of the above, and at most.

${memoryTable(endToEnd)}

${affinity === undefined ? '' : `${affinityText(affinity)}\n`}${ha === undefined ? '' : `${replicasText(ha)}\n`}## One request, inside

${decisionTable(micro)}

${micro.protocols === undefined ? '' : protocolsText(micro)}## How the cost grows

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

${withPrompts(micro)}**With open streams.** ${figure(open)} requests at once whose workers keep them waiting: resident memory that came to each process,
for each request. After a header key the service holds no stream; after a body \`rid\` Envoy keeps it open until the response has
ended. The service's figures tell the order of size only: a heap that had room shows little, one that grew shows more. A
request in flight is one entry in the ledger.

${heldTable(endToEnd)}

${ledgerTable(micro)}

## What is not good yet

- **The transport.** A decision with its messages is ${figure(share('header-1k', 'headers'))} % of the processor time that the service takes for a
  request with a header key at full load, and ${figure(share('rid-1k', '1 KB body'))} % with a body \`rid\`. Nearly all the rest is HTTP/2 and gRPC:
  \`@grpc/grpc-js\` on Node's own HTTP/2. It stands behind a [port](adr/0004-transport-port.md) so that a leaner one can take its place.
- **Decoding.** The generated code decodes all headers of a message where a decision wants a few: of the ${size(withMessages('headers').bytes)}
  that a request with a header key allocates, the decision makes ${size(micro.decisions[0].bytes)}.
- **An idle process** is larger than what it holds: while modules load, V8 makes its space for young objects large, and keeps
  it. Node's option \`max-semi-space-size\` keeps it small, at the price of more frequent collections under load. The
  largest single part of the rest is the schema library (zod) behind settings and workers.
- **Long bodies.** A body that has to be read travels to the service and holds its request back until it is whole, in Envoy and
  here. A key in a header avoids all of it.
- **What these figures are not.** One machine, ${endToEnd.machine.cores} shared cores, plaintext, loopback, workers that answer at once, pins in
  memory. Take differences below 15 % as none, and a p99 as good for a factor of two.

## Repeat it

\`\`\`sh
node bench/run.mjs      # through Envoy, about 5 minutes
node bench/micro.mjs    # inside, about 6 minutes
node bench/affinity.mjs # prompts that begin alike, about 4 minutes
node bench/ha.mjs       # several replicas, about 8 minutes; needs redis-server
node bench/render.mjs   # this page, from the newest files in bench/results
\`\`\`

The settings above are options of the same name. Results go to \`bench/results/local/\`, which git ignores; the option \`out\`
names another file, and files \`bench/results/DATE-end-to-end.json\`, \`…-micro.json\`, \`…-affinity.json\` and \`…-ha.json\` are
what this page is made of: the newest of each. Leave the machine alone meanwhile.
`;
}

function affinityLine(affinity) {
  if (affinity === undefined) return '';
  const { date, versions, name } = affinity;
  return `\n| prompts that begin alike | ${date}, ${commandOf(affinity)}, commit ${versions.commit}, [${name}](../bench/results/${name}) |`;
}

function haLine(ha) {
  if (ha === undefined) return '';
  const { date, versions, name } = ha;
  return `\n| several replicas | ${date}, ${commandOf(ha)}, commit ${versions.commit}, [${name}](../bench/results/${name}) |`;
}

/** The command without its options, and the settings that held. */
function commandOf({ command, settings }) {
  const words = command.split(' ').slice(0, 2).join(' ');
  const held = Object.entries(settings).map(([name, value]) => `${name} ${value}`);
  return `\`${words}\` with ${held.join(', ')}`;
}

function protocolsText(micro) {
  return `**By stream or by call.** The processor time that a request takes here in all, asked for by a client that plays Envoy over
HTTP/2: a stream of ext_proc, or a call of [ext_authz](guides/ext-authz.md).

${protocolsTable(micro)}

`;
}
