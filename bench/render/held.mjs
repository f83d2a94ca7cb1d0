/** Many answers in events, open at once, through an Envoy with its default circuit breakers. */
import { figure, table } from './format.mjs';
import { from, problemsText } from './sources.mjs';

function heldTable({ rows }) {
  return table(
    [
      '',
      'open',
      'in flight',
      'streams open',
      'failed',
      'left their worker',
      'service',
      'Envoy',
      'service, each',
      'Envoy, each',
    ],
    rows.map((row) => [
      row.title,
      figure(row.open),
      figure(row.inFlight),
      figure(row.openCalls),
      figure(row.failed),
      figure(row.split),
      figure(row.serviceMiB, 'MB'),
      figure(row.envoyMiB, 'MB'),
      figure(row.serviceKiBEach, 'KB'),
      figure(row.envoyKiBEach, 'KB'),
    ]),
  );
}

export function heldText(result) {
  const { settings, rows } = result;
  const overflowed = rows.reduce((sum, row) => sum + row.overflowed, 0);
  return `## Answers that stay open

${from(result)}

Answers of ${settings.events} events, all of them open at once for ${figure(settings['hold-ms'] / 1000, 's')}, ${figure(settings.ramp)} more a second until then. Envoy's circuit breakers towards
the service are its default ones (1,024 requests at once), which met ${figure(overflowed)} requests. In flight and open streams are the service's own
counts in the middle of that time. Each is the resident memory that came since before, divided by the open answers: one
measurement, and of a few answers it shows the size of the heap more than theirs.

${heldTable(result)}

${problemsText(result)}
`;
}
