import { expect, it } from 'vitest';
import { parseExposition } from '../../test/support/parse-exposition.ts';
import { createMetrics } from '../telemetry/metrics.ts';
import { metricsRoute } from './metrics-route.ts';

it('counts what Envoy logs just after an answer', async () => {
  const metrics = createMetrics();
  const { handle } = metricsRoute(metrics, { text: () => Promise.resolve('') }, 'open');

  const answer = handle(undefined as never); // it looks at nothing of the request
  // Turns of the event loop later: the socket of the log has been read by then.
  setImmediate(() => setImmediate(() => metrics.logEntries.cell('end').value++));

  const { samples } = parseExposition(await (await answer).text());
  const counted = { name: 'smg_envoy_access_log_entries_total', labels: { kind: 'end' }, value: 1 };
  expect(samples).toContainEqual(counted);
});
