import type { Definition, Label } from './definition.ts';
import { OWN_METRICS } from './own-metrics.ts';
import { SMG_METRICS } from './smg-metrics.ts';

const INTRO = `# Metrics

Served as Prometheus text at \`GET /metrics\` of the admin port, and at the same path of \`--prometheus-port\` when it is
given. That second listener serves nothing else and asks for no key; on the admin port \`/metrics\` asks for one like every
other read once \`--control-plane-api-keys\` is set.

Times are in seconds. Series of labels with fixed values are there from the start with 0. Labels marked *from requests*
keep their first 1,024 distinct values; all others are counted under \`other\`. A sticky key never becomes a label.

This page is generated from the metric table in \`src/telemetry/\`; \`npm run check\` fails when it is out of date.
`;

const PROCESS = `## Process

CPU, memory, file descriptors, garbage collection and event-loop lag come under the usual names of prom-client:
\`process_cpu_seconds_total\`, \`process_resident_memory_bytes\`, \`nodejs_eventloop_lag_seconds\` and
\`nodejs_eventloop_lag_p99_seconds\`, \`nodejs_gc_duration_seconds\`, \`nodejs_heap_size_used_bytes\` and others.
`;

/** The text of docs/metrics.md. */
export function metricsMarkdown(): string {
  return [
    INTRO,
    section('From SMG', "Names, labels and values are SMG's.", Object.values(SMG_METRICS)),
    section('Own', 'What SMG has no name for.', Object.values(OWN_METRICS)),
    PROCESS,
  ].join('\n');
}

function section(title: string, text: string, definitions: readonly Definition[]): string {
  const rows = definitions.map(
    ({ name, type, labels, help }) => `| \`${name}\` | ${type} | ${labels.map(labelText).join('; ')} | ${cell(help)} |`,
  );
  const buckets = definitions
    .filter((definition) => definition.buckets !== null)
    .map(({ name, buckets: bounds }) => `- \`${name}\`: ${(bounds ?? []).join(', ')}`);
  return `## ${title}

${text}

| metric | type | labels | meaning |
|---|---|---|---|
${rows.join('\n')}

Buckets:

${buckets.join('\n')}
`;
}

function labelText({ name, values }: Label): string {
  if (values === 'operator') return `\`${name}\``;
  if (values === 'request') return `\`${name}\` (from requests)`;
  return `\`${name}\`: ${values.join(', ')}`;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
