/** The path with an Envoy in it: plain Envoy, Envoy with us, and SMG. */
import {
  besideTable,
  capacityTable,
  cpuTable,
  latencyTable,
  memoryTable,
  streamedTable,
  totals,
} from './end-to-end.mjs';
import { figure } from './format.mjs';
import { from, problemsText } from './sources.mjs';

export function throughEnvoyText(result) {
  const { settings, scenarios, machine } = result;
  const { sent, failed, split } = totals(result);
  return `## Through Envoy

${from(result)}

Plain Envoy is the generated configuration without the ext_proc filter, the access log and the override: the same listener,
retries and limits, round robin over the same ${settings.workers} workers. With us it is the generated configuration as it is.
A header key (\`--routing-key-order header-first\`) is read from \`x-smg-routing-key\`, so the body never comes to the service; a
body \`rid\` has the service ask Envoy for the body. ${smgText(result)}All variants are up at once and take turns for ${settings.rounds} rounds;
a figure is the median of the rounds, and a difference or ratio is taken within each round first. Ratios are to plain Envoy
with bodies of the same size, but where they say otherwise.

${figure(sent)} requests were measured: ${failed} failed, and ${split} of those with a key left the worker of their conversation.
${problemsText(result)}

${latencyText(result)}### Processor time of a request

At the rates above, where it is mostly idle:

${cpuTable(scenarios.latency)}

At full load, as below:

${cpuTable(scenarios.capacity)}

At a low rate a request costs more than at full load: it is a wake-up for each of its messages, where a busy process takes
several at once.

### Full load

${settings.connections} connections, each sending as soon as it has its answer. All processes share ${machine.cores} cores here, so that
what the service takes is missing for Envoy, the client and the workers.

${capacityTable(result)}

${streamedText(result)}${besideText(result)}### Memory

Resident, of the processes of each variant: before the first request, after all of the above, and at most.

${memoryTable(result)}
`;
}

function smgText({ scenarios, withoutSmg }) {
  if (Object.keys(scenarios.latency.summary).some((name) => name.startsWith('smg')))
    return `SMG is asked by the same client without an Envoy,
and does what both do; its processor time stands under both. `;
  return withoutSmg == null ? '' : `SMG was not there: ${withoutSmg}. `;
}

function latencyText(result) {
  const { settings, scenarios } = result;
  const late = Math.max(...Object.values(scenarios.latency.summary).map((row) => row.lateP99Ms));
  const huge = settings['huge-rate'] === undefined ? '' : `, ${settings['huge-rate']} with 1 MB`;
  return `### Latency

${settings.rate} requests a second with 1 KB, ${settings['large-rate']} with 220 KB${huge}, evenly spaced, whatever the answers do; latency
counts from the time a request was due. The client was at most ${figure(late, 'ms')} late for 99 % of them (median of the rounds,
worst variant), which is in the figures.

${latencyTable(result)}

`;
}

function streamedText(result) {
  const { settings, scenarios } = result;
  if (scenarios.streamed === undefined) return '';
  return `### Long bodies, answers in events

${settings.clients} clients, each sending 220 KB as soon as it has its answer, which comes in ${settings.events} events: as generations are sent, but for their
pauses. Processor time is that of a request.

${streamedTable(result)}

`;
}

function besideText(result) {
  const beside = besideTable(result);
  if (beside === '') return '';
  return `### ext_authz, and grpc-js

In ratio to the same request by ext_proc on our own HTTP/2: latency at the rates above, the rest at full load, processor time
of a request. Below 1 is less. ext_authz has its [own guide](guides/ext-authz.md), with what it cannot do.

${beside}

`;
}
