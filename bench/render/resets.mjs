/** Streams that Envoy ends by a reset each, which is its default. */
import { figure, table } from './format.mjs';
import { from, problemsText } from './sources.mjs';

function resetsTable({ rows }) {
  return table(
    [
      '',
      'requests',
      'placed',
      'resets',
      'GOAWAYs sent',
      'failed',
      'left their worker',
      'let through unasked',
      'p99, worst step',
      'resident at the end',
    ],
    rows.map((row) => [
      row.variant,
      figure(row.sent),
      figure(row.placed),
      figure(row.resets),
      figure(row.goAways),
      figure(row.failed),
      figure(row.split),
      figure(countedAs(row.envoy, 'failure_mode_allowed')),
      figure(row.p99Ms, 'ms'),
      figure(row.rssMiB, 'MB'),
    ]),
  );
}

/** Bounds against abuse that the transport saw reached. */
function limitsText({ rows }) {
  const met = rows.flatMap(({ limits }) => Object.entries(limits));
  if (met.length === 0) return 'No limit of the transport was reached.';
  return `Limits of the transport were reached: ${met.map(([label, count]) => `${label.replaceAll('"', '')} ${figure(count)} times`).join(', ')}.`;
}

/** Sum of Envoy's counters whose names end so. */
function countedAs(counters, end) {
  return Object.entries(counters).reduce((sum, [name, value]) => (name.endsWith(end) ? sum + value : sum), 0);
}

export function resetsText(result) {
  const { settings } = result;
  return `## Streams that end by a reset

${from(result)}

${figure(settings.rate)} requests a second for ${figure(settings.minutes, 'minutes')}, key in a header, the generated configuration: Envoy resets each
stream. Let through unasked is Envoy's own count of streams that failed. The p99 is that of a client beside
Envoy, the workers and the service on the same cores, the worst step of ${figure(settings['step-seconds'], 's')}.

${resetsTable(result)}

${limitsText(result)}
${problemsText(result)}
`;
}
